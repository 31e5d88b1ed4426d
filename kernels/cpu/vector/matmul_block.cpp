// Products of weights in blocks of 32.
#include "kernel_table.h"
#include "kernels/cpu/block_product.h"
#include "kernels/cpu/format_32.h"
#include "kernels/cpu/vector/variant.h"

namespace halogen::kernel::HALOGEN_VARIANT {

const Matmul matmul_q4_0 = TileMatmul<BlockProduct<Vector, Lanes, FormatQ4_0>>::face();
const Matmul matmul_q4_1 = TileMatmul<BlockProduct<Vector, Lanes, FormatQ4_1>>::face();
const Matmul matmul_q5_0 = TileMatmul<BlockProduct<Vector, Lanes, FormatQ5_0>>::face();
const Matmul matmul_q5_1 = TileMatmul<BlockProduct<Vector, Lanes, FormatQ5_1>>::face();
const Matmul matmul_q8_0 = TileMatmul<BlockProduct<Vector, Lanes, FormatQ8_0>>::face();
const Matmul matmul_iq4_nl = TileMatmul<BlockProduct<Vector, Lanes, FormatIQ4NL>>::face();
const Matmul matmul_mxfp4 = TileMatmul<BlockProduct<Vector, Lanes, FormatMXFP4>>::face();

}  // namespace halogen::kernel::HALOGEN_VARIANT
