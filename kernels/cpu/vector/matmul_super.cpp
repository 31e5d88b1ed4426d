// Products of weights in blocks of 256.
#include "kernel_table.h"
#include "kernels/cpu/block_product.h"
#include "kernels/cpu/format_256.h"
#include "kernels/cpu/vector/variant.h"

namespace halogen::kernel::HALOGEN_VARIANT {

const Matmul matmul_q2_k = TileMatmul<BlockProduct<Vector, Lanes, FormatQ2K>>::face();
const Matmul matmul_q3_k = TileMatmul<BlockProduct<Vector, Lanes, FormatQ3K>>::face();
const Matmul matmul_q4_k = TileMatmul<BlockProduct<Vector, Lanes, FormatQ4K>>::face();
const Matmul matmul_q5_k = TileMatmul<BlockProduct<Vector, Lanes, FormatQ5K>>::face();
const Matmul matmul_q6_k = TileMatmul<BlockProduct<Vector, Lanes, FormatQ6K>>::face();
const Matmul matmul_iq4_xs = TileMatmul<BlockProduct<Vector, Lanes, FormatIQ4XS>>::face();

}  // namespace halogen::kernel::HALOGEN_VARIANT
