// ik_llama.cpp's side of adapter.h.
#include <stdexcept>

#include "test/peer/adapter.h"

namespace peer {

// Its sources do not say which they are: the build does.
std::string version() {
  return "ik_llama.cpp " HALOGEN_PEER_SOURCE;
}

// Fused mixtures of experts, fused products and the reuse of graphs are its defaults; repacking as it loads is not.
llama_model* load(const Settings& settings) {
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = 0;
  params.repack_tensors = settings.repack;
  params.flash_attn = settings.flash;
  return llama_model_load_from_file(settings.model.c_str(), params);
}

void unload(llama_model* model) {
  llama_free_model(model);
}

llama_context* context(llama_model* model, const Settings& settings) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = settings.context;
  params.n_threads = params.n_threads_batch = static_cast<uint32_t>(settings.threads);
  params.flash_attn = settings.flash;
  params.type_k = params.type_v = settings.exact ? GGML_TYPE_F32 : GGML_TYPE_F16;
  return llama_init_from_model(model, params);
}

void forget(llama_context* context) {
  llama_kv_cache_clear(context);
}

int trained_context(const llama_model* model) {
  return llama_n_ctx_train(model);
}

void dequantise(const std::string&, const std::string&) {
  throw std::runtime_error("weights are written out by the program over llama.cpp");
}

}  // namespace peer
