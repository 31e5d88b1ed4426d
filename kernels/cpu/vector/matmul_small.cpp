// Products of weights with one, two or four bits.
#include "kernel_table.h"
#include "kernels/cpu/block_product.h"
#include "kernels/cpu/format_small.h"
#include "kernels/cpu/vector/variant.h"

namespace halogen::kernel::HALOGEN_VARIANT {

const Matmul matmul_awq4 = TileMatmul<BlockProduct<Vector, Lanes, FormatAWQ4>>::face();
const Matmul matmul_nvfp4 = TileMatmul<BlockProduct<Vector, Lanes, FormatNVFP4>>::face();
const Matmul matmul_q1_0 = TileMatmul<BlockProduct<Vector, Lanes, FormatQ1_0>>::face();
const Matmul matmul_q2_0 = TileMatmul<BlockProduct<Vector, Lanes, FormatQ2_0>>::face();
const Matmul matmul_tq1_0 = TileMatmul<BlockProduct<Vector, Lanes, FormatTQ1_0>>::face();
const Matmul matmul_tq2_0 = TileMatmul<BlockProduct<Vector, Lanes, FormatTQ2_0>>::face();

}  // namespace halogen::kernel::HALOGEN_VARIANT
