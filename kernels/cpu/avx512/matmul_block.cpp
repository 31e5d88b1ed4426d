// Products of weights in blocks of 32.
#include "kernel_table.h"
#include "kernels/cpu/avx512/block.h"
#include "kernels/cpu/format_32.h"

namespace halogen::kernel::avx512 {

const Matmul matmul_q4_0 = TileMatmul<Block<FormatQ4_0>>::face();
const Matmul matmul_q4_1 = TileMatmul<Block<FormatQ4_1>>::face();
const Matmul matmul_q5_0 = TileMatmul<Block<FormatQ5_0>>::face();
const Matmul matmul_q5_1 = TileMatmul<Block<FormatQ5_1>>::face();
const Matmul matmul_q8_0 = TileMatmul<Block<FormatQ8_0>>::face();
const Matmul matmul_iq4_nl = TileMatmul<Block<FormatIQ4NL>>::face();
const Matmul matmul_mxfp4 = TileMatmul<Block<FormatMXFP4>>::face();

}  // namespace halogen::kernel::avx512
