#include "kernel_table.h"
#include "kernels/cpu/avx512/vector.h"
#include "kernels/cpu/tile_float.h"

namespace halogen::kernel::avx512 {

const Matmul matmul_f32 = TileMatmul<FloatTile<Vector, WeightF32<Vector>>>::face();
const Matmul matmul_f16 = TileMatmul<FloatTile<Vector, WeightF16<Vector>>>::face();
const Matmul matmul_bf16 = TileMatmul<FloatTile<Vector, WeightBF16<Vector>>>::face();

}  // namespace halogen::kernel::avx512
