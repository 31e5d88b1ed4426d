#include "kernels/cpu/attention.h"

#include "kernel_table.h"
#include "kernels/cpu/avx512/vector.h"

namespace halogen::kernel::avx512 {

const Attention attention_f32 = PagedAttention<Vector, KvF32<Vector>>::face();
const Attention attention_f16 = PagedAttention<Vector, KvF16<Vector>>::face();

}  // namespace halogen::kernel::avx512
