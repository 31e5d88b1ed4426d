// Products of weights in blocks of 256.
#include "kernel_table.h"
#include "kernels/cpu/avx512/block.h"
#include "kernels/cpu/format_256.h"

namespace halogen::kernel::avx512 {

const Matmul matmul_q2_k = TileMatmul<Block<FormatQ2K>>::face();
const Matmul matmul_q3_k = TileMatmul<Block<FormatQ3K>>::face();
const Matmul matmul_q4_k = TileMatmul<Block<FormatQ4K>>::face();
const Matmul matmul_q5_k = TileMatmul<Block<FormatQ5K>>::face();
const Matmul matmul_q6_k = TileMatmul<Block<FormatQ6K>>::face();
const Matmul matmul_iq4_xs = TileMatmul<Block<FormatIQ4XS>>::face();

}  // namespace halogen::kernel::avx512
