#include "kernels/cpu/attention.h"

#include "kernel_table.h"
#include "kernels/cpu/vector/variant.h"

namespace halogen::kernel::HALOGEN_VARIANT {

const Attention attention_f32 = PagedAttention<Vector, KvF32<Vector>>::face();
const Attention attention_f16 = PagedAttention<Vector, KvF16<Vector>>::face();
const Attention attention_bf16 = PagedAttention<Vector, KvBF16<Vector>>::face();
const Attention attention_q8_0 = PagedAttention<Vector, KvQ8<Vector>>::face();

void kv_store_f32(const float* x, void* page, int64_t slot, int64_t page_tokens, int64_t head_dim) {
  KvPage<Vector, KvF32<Vector>>::store(x, page, slot, page_tokens, head_dim);
}

void kv_store_f16(const float* x, void* page, int64_t slot, int64_t page_tokens, int64_t head_dim) {
  KvPage<Vector, KvF16<Vector>>::store(x, page, slot, page_tokens, head_dim);
}

void kv_store_bf16(const float* x, void* page, int64_t slot, int64_t page_tokens, int64_t head_dim) {
  KvPage<Vector, KvBF16<Vector>>::store(x, page, slot, page_tokens, head_dim);
}

void kv_store_q8_0(const float* x, void* page, int64_t slot, int64_t page_tokens, int64_t head_dim) {
  KvPage<Vector, KvQ8<Vector>>::store(x, page, slot, page_tokens, head_dim);
}

}  // namespace halogen::kernel::HALOGEN_VARIANT
