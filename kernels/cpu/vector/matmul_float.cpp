#include "kernel_table.h"
#include "kernels/cpu/tile_float.h"
#include "kernels/cpu/vector/variant.h"

namespace halogen::kernel::HALOGEN_VARIANT {

const Matmul matmul_f32 = TileMatmul<FloatTile<Vector, WeightF32<Vector>>>::face();
const Matmul matmul_f16 = TileMatmul<FloatTile<Vector, WeightF16<Vector>>>::face();
const Matmul matmul_bf16 = TileMatmul<FloatTile<Vector, WeightBF16<Vector>>>::face();

}  // namespace halogen::kernel::HALOGEN_VARIANT
