// Architectures "bitnet", 1bitLLM's BitNet b1.58, and "bitnet-b1.58" (once "bitnet-25"), Microsoft's own with a squared
// ReLU. Ternary weights; a norm before what attention and feed-forward end with.
#include "native/engine/error.h"
#include "native/engine/model/dense.h"

namespace halogen::model {
namespace {

Dense bitnet(const Header& header) {
  // bitnet.cpp's I2_S took the number of a format that GGUF had retired; its scale stands outside of the blocks.
  constexpr uint32_t i2_s = 36;
  for (const gguf::Tensor& tensor : header.file().tensors()) {
    if (tensor.type_id != i2_s) continue;
    throw Error(
        code::model_unsupported_format,
        "This file is fine; Halogen does not know the weight format I2_S, which is bitnet.cpp's own (tensor \"" +
            std::string(tensor.name) + "\").",
        "Download this model as TQ2_0, TQ1_0 or F16.",
        {{"tensor", std::string(tensor.name)}, {"format", "I2_S"}, {"type", tensor.type_id}});
  }
  Dense kind;
  kind.pairing = Pairing::halves;
  kind.inner_norms = true;
  return kind;
}

}  // namespace

Description describe_bitnet(const Header& header) {
  return describe_dense(header, bitnet(header));
}

Description describe_bitnet_squared(const Header& header) {
  Dense kind = bitnet(header);
  kind.activation = Gate::squared;
  return describe_dense(header, kind);
}

}  // namespace halogen::model
