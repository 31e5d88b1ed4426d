// llama.cpp's side of adapter.h.
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gguf.h>

#include "test/peer/adapter.h"

namespace peer {

std::string version() {
  return std::string("llama.cpp ") + llama_version() + " (" HALOGEN_PEER_SOURCE ")";
}

llama_model* load(const Settings& settings) {
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = 0;
  params.use_extra_bufts = settings.repack;
  return llama_model_load_from_file(settings.model.c_str(), params);
}

void unload(llama_model* model) {
  llama_model_free(model);
}

llama_context* context(llama_model* model, const Settings& settings) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = settings.context;
  params.n_threads = params.n_threads_batch = settings.threads;
  params.flash_attn_type = settings.flash ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.type_k = params.type_v = settings.exact ? GGML_TYPE_F32 : GGML_TYPE_F16;
  return llama_init_from_model(model, params);
}

void forget(llama_context* context) {
  llama_memory_clear(llama_get_memory(context), true);
}

int trained_context(const llama_model* model) {
  return llama_model_n_ctx_train(model);
}

void dequantise(const std::string& from, const std::string& to) {
  ggml_context* tensors = nullptr;
  std::unique_ptr<gguf_context, decltype(&gguf_free)> in(gguf_init_from_file(from.c_str(), {true, &tensors}),
                                                         gguf_free);
  if (!in) throw std::runtime_error("llama.cpp does not read " + from);
  const int64_t count = gguf_get_n_tensors(in.get());
  std::unique_ptr<gguf_context, decltype(&gguf_free)> out(gguf_init_empty(), gguf_free);
  gguf_set_kv(out.get(), in.get());
  const ggml_init_params params{ggml_tensor_overhead() * static_cast<size_t>(count + 1), nullptr, true};
  std::unique_ptr<ggml_context, decltype(&ggml_free)> plain(ggml_init(params), ggml_free);
  std::vector<const ggml_tensor*> sources;
  for (int64_t i = 0; i < count; ++i) {
    const ggml_tensor* source = ggml_get_tensor(tensors, gguf_get_tensor_name(in.get(), i));
    ggml_tensor* tensor = ggml_new_tensor(plain.get(), GGML_TYPE_F32, ggml_n_dims(source), source->ne);
    ggml_set_name(tensor, source->name);
    gguf_add_tensor(out.get(), tensor);
    sources.push_back(source);
  }
  if (!gguf_write_to_file(out.get(), to.c_str(), true)) throw std::runtime_error("cannot write " + to);
  std::ofstream target(to, std::ios::binary | std::ios::app);
  std::ifstream data(from, std::ios::binary);
  const size_t alignment = gguf_get_alignment(out.get());
  for (int64_t i = 0; i < count; ++i) {
    const ggml_tensor* source = sources[static_cast<size_t>(i)];
    std::vector<char> raw(gguf_get_tensor_size(in.get(), i));
    data.seekg(static_cast<std::streamoff>(gguf_get_data_offset(in.get()) + gguf_get_tensor_offset(in.get(), i)));
    if (!data.read(raw.data(), static_cast<std::streamsize>(raw.size())))
      throw std::runtime_error(from + " is cut short");
    const int64_t elements = ggml_nelements(source);
    std::vector<float> values(static_cast<size_t>(elements));
    if (source->type == GGML_TYPE_F32)
      std::memcpy(values.data(), raw.data(), raw.size());
    else if (const auto* traits = ggml_get_type_traits(source->type); traits->to_float != nullptr)
      traits->to_float(raw.data(), values.data(), elements);
    else
      throw std::runtime_error(std::string(source->name) + " cannot be written out as F32");
    const size_t bytes = values.size() * sizeof(float);
    target.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(bytes));
    const std::vector<char> pad((alignment - bytes % alignment) % alignment);
    target.write(pad.data(), static_cast<std::streamsize>(pad.size()));
  }
  ggml_free(tensors);
  if (!target.flush()) throw std::runtime_error("cannot write " + to);
}

}  // namespace peer
