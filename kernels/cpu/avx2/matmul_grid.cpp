// Products of weights from codebooks.
#include "kernel_table.h"
#include "kernels/cpu/avx2/block.h"
#include "kernels/cpu/format_grid.h"

namespace halogen::kernel::avx2 {

const Matmul matmul_iq1_s = TileMatmul<Block<FormatIQ1S>>::face();
const Matmul matmul_iq1_m = TileMatmul<Block<FormatIQ1M>>::face();
const Matmul matmul_iq2_xxs = TileMatmul<Block<FormatIQ2XXS>>::face();
const Matmul matmul_iq2_xs = TileMatmul<Block<FormatIQ2XS>>::face();
const Matmul matmul_iq2_s = TileMatmul<Block<FormatIQ2S>>::face();
const Matmul matmul_iq3_xxs = TileMatmul<Block<FormatIQ3XXS>>::face();
const Matmul matmul_iq3_s = TileMatmul<Block<FormatIQ3S>>::face();

}  // namespace halogen::kernel::avx2
