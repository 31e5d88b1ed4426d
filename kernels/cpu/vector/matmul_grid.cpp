// Products of weights from codebooks.
#include "kernel_table.h"
#include "kernels/cpu/block_product.h"
#include "kernels/cpu/format_grid.h"
#include "kernels/cpu/vector/variant.h"

namespace halogen::kernel::HALOGEN_VARIANT {

const Matmul matmul_iq1_s = TileMatmul<BlockProduct<Vector, Lanes, FormatIQ1S>>::face();
const Matmul matmul_iq1_m = TileMatmul<BlockProduct<Vector, Lanes, FormatIQ1M>>::face();
const Matmul matmul_iq2_xxs = TileMatmul<BlockProduct<Vector, Lanes, FormatIQ2XXS>>::face();
const Matmul matmul_iq2_xs = TileMatmul<BlockProduct<Vector, Lanes, FormatIQ2XS>>::face();
const Matmul matmul_iq2_s = TileMatmul<BlockProduct<Vector, Lanes, FormatIQ2S>>::face();
const Matmul matmul_iq3_xxs = TileMatmul<BlockProduct<Vector, Lanes, FormatIQ3XXS>>::face();
const Matmul matmul_iq3_s = TileMatmul<BlockProduct<Vector, Lanes, FormatIQ3S>>::face();

}  // namespace halogen::kernel::HALOGEN_VARIANT
