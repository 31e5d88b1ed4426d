// Products of weights with one, two or four bits.
#include "kernel_table.h"
#include "kernels/cpu/avx2/block.h"
#include "kernels/cpu/format_small.h"

namespace halogen::kernel::avx2 {

const Matmul matmul_awq4 = TileMatmul<Block<FormatAWQ4>>::face();
const Matmul matmul_nvfp4 = TileMatmul<Block<FormatNVFP4>>::face();
const Matmul matmul_q1_0 = TileMatmul<Block<FormatQ1_0>>::face();
const Matmul matmul_q2_0 = TileMatmul<Block<FormatQ2_0>>::face();
const Matmul matmul_tq1_0 = TileMatmul<Block<FormatTQ1_0>>::face();
const Matmul matmul_tq2_0 = TileMatmul<Block<FormatTQ2_0>>::face();

}  // namespace halogen::kernel::avx2
