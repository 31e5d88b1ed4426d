#include "test/native/maker.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>

#include "kernels/cpu/reference/half.h"

namespace halogen::test {

uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15u;
  uint64_t value = state_;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

float Random::normal() {
  const double a = 1 - uniform(), b = uniform();
  return static_cast<float>(std::sqrt(-2 * std::log(a)) * std::cos(2 * std::acos(-1.0) * b));
}

void put_string(Bytes& bytes, const std::string& text) {
  put<uint64_t>(bytes, text.size());
  bytes.insert(bytes.end(), text.begin(), text.end());
}

void GgufMaker::key_raw(const std::string& key, uint32_t type, const Bytes& value) {
  drop_key(key);
  Bytes entry;
  put_string(entry, key);
  put(entry, type);
  entry.insert(entry.end(), value.begin(), value.end());
  keys_.emplace_back(key, entry);
}

void GgufMaker::drop_key(const std::string& key) {
  std::erase_if(keys_, [&](const auto& entry) { return entry.first == key; });
}

void GgufMaker::drop_tensor(const std::string& name) {
  std::erase_if(tensors, [&](const Tensor& tensor) { return tensor.name == name; });
}

void GgufMaker::key_u32(const std::string& key, uint32_t value) {
  Bytes raw;
  put(raw, value);
  key_raw(key, 4, raw);
}

void GgufMaker::key_f32(const std::string& key, float value) {
  Bytes raw;
  put(raw, value);
  key_raw(key, 6, raw);
}

void GgufMaker::key_boolean(const std::string& key, bool value) {
  key_raw(key, 7, {static_cast<uint8_t>(value)});
}

void GgufMaker::key_string(const std::string& key, const std::string& value) {
  Bytes raw;
  put_string(raw, value);
  key_raw(key, 8, raw);
}

void GgufMaker::key_strings(const std::string& key, const std::vector<std::string>& values) {
  Bytes raw;
  put<uint32_t>(raw, 8);
  put<uint64_t>(raw, values.size());
  for (const std::string& value : values) put_string(raw, value);
  key_raw(key, 9, raw);
}

void GgufMaker::key_floats(const std::string& key, const std::vector<float>& values) {
  Bytes raw;
  put<uint32_t>(raw, 6);
  put<uint64_t>(raw, values.size());
  for (const float value : values) put(raw, value);
  key_raw(key, 9, raw);
}

void GgufMaker::key_integers(const std::string& key, const std::vector<int32_t>& values) {
  Bytes raw;
  put<uint32_t>(raw, 5);
  put<uint64_t>(raw, values.size());
  for (const int32_t value : values) put(raw, value);
  key_raw(key, 9, raw);
}

void GgufMaker::tensor(const std::string& name, std::vector<uint64_t> shape, uint32_t type, Bytes data) {
  drop_tensor(name);
  tensors.push_back({name, std::move(shape), type, std::move(data)});
}

Bytes GgufMaker::header() const {
  Bytes out;
  put<uint32_t>(out, 0x46554747);  // "GGUF"
  put(out, version);
  put<uint64_t>(out, tensors.size());
  put<uint64_t>(out, keys_.size());
  for (const auto& [key, entry] : keys_) out.insert(out.end(), entry.begin(), entry.end());
  uint64_t offset = 0;
  for (const Tensor& tensor : tensors) {
    put_string(out, tensor.name);
    put<uint32_t>(out, static_cast<uint32_t>(tensor.shape.size()));
    for (const uint64_t dimension : tensor.shape) put(out, dimension);
    put(out, tensor.type);
    put(out, offset);
    offset = (offset + tensor.data.size() + alignment - 1) / alignment * alignment;
  }
  return out;
}

uint64_t GgufMaker::data_begin() const {
  return (header().size() + alignment - 1) / alignment * alignment;
}

Bytes GgufMaker::bytes() const {
  Bytes out = header();
  for (const Tensor& tensor : tensors) {
    out.resize((out.size() + alignment - 1) / alignment * alignment);
    out.insert(out.end(), tensor.data.begin(), tensor.data.end());
  }
  return out;
}

ScratchFile::ScratchFile(const Bytes& bytes, const std::string& name) {
  static std::atomic<int> count{0};
  folder_ = std::filesystem::temp_directory_path() /
            ("halogen-test-" + std::to_string(getpid()) + "-" + std::to_string(++count));
  std::filesystem::create_directories(folder_);
  path_ = folder_ / name;
  std::ofstream(path_, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

ScratchFile::~ScratchFile() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

namespace {

using kernel::reference::float_from_half;
using kernel::reference::half_from_float;

Bytes encode(uint32_t type, std::vector<float>& values) {
  Bytes out;
  if (type == 0) {
    for (const float value : values) put(out, value);
  } else if (type == 1) {
    for (float& value : values) {
      put(out, half_from_float(value));
      value = float_from_half(half_from_float(value));
    }
  } else {
    for (size_t i = 0; i < values.size(); i += 32) {
      float peak = 0;
      for (size_t j = 0; j < 32; ++j) peak = std::max(peak, std::abs(values[i + j]));
      const uint16_t scale = half_from_float(peak / 127);
      put(out, scale);
      for (size_t j = 0; j < 32; ++j) {
        const float d = float_from_half(scale);
        const auto q = static_cast<int8_t>(d > 0 ? std::lround(std::clamp(values[i + j] / d, -127.0f, 127.0f)) : 0);
        put(out, q);
        values[i + j] = d * static_cast<float>(q);
      }
    }
  }
  return out;
}

}  // namespace

GgufMaker tiny_llama(const TinyShape& shape, uint64_t seed, std::map<std::string, std::vector<float>>* floats) {
  Random random(seed);
  GgufMaker maker;
  const auto u32 = [](int64_t value) { return static_cast<uint32_t>(value); };
  const std::string architecture = shape.window > 0 ? "gpt-oss" : "llama";
  maker.key_string("general.architecture", architecture);
  maker.key_string("general.name", "Tiny");
  maker.key_u32(architecture + ".block_count", u32(shape.layers));
  maker.key_u32(architecture + ".context_length", u32(shape.context));
  maker.key_u32(architecture + ".embedding_length", u32(shape.embedding));
  maker.key_u32(architecture + ".feed_forward_length", u32(shape.inner));
  maker.key_u32(architecture + ".attention.head_count", u32(shape.heads));
  maker.key_u32(architecture + ".attention.head_count_kv", u32(shape.kv_heads));
  maker.key_u32(architecture + ".attention.key_length", u32(shape.head_dim));
  maker.key_u32(architecture + ".attention.value_length", u32(shape.head_dim));
  maker.key_u32(architecture + ".rope.dimension_count", u32(shape.rotated));
  maker.key_f32(architecture + ".rope.freq_base", 10000);
  maker.key_f32(architecture + ".attention.layer_norm_rms_epsilon", 1e-5f);
  if (shape.rope_linear != 1) {
    maker.key_string(architecture + ".rope.scaling.type", "linear");
    maker.key_f32(architecture + ".rope.scaling.factor", shape.rope_linear);
  }
  if (shape.window > 0) {
    maker.key_u32(architecture + ".attention.sliding_window", u32(shape.window));
    Bytes slides;
    put(slides, uint32_t{7});
    put(slides, static_cast<uint64_t>(shape.slides.size()));
    for (const bool each : shape.slides) put(slides, static_cast<uint8_t>(each));
    maker.key_raw(architecture + ".attention.sliding_window_pattern", 9, slides);
  }
  std::vector<std::string> tokens;
  for (int64_t i = 0; i < shape.vocabulary; ++i) tokens.push_back("t" + std::to_string(i));
  maker.key_string("tokenizer.ggml.model", "gpt2");
  maker.key_string("tokenizer.ggml.pre", "smollm");
  maker.key_strings("tokenizer.ggml.tokens", tokens);
  maker.key_integers("tokenizer.ggml.token_type", std::vector<int32_t>(tokens.size(), 1));
  maker.key_strings("tokenizer.ggml.merges", {"t 1", "t 2"});
  maker.key_u32("tokenizer.ggml.eos_token_id", 2);
  maker.key_boolean("tokenizer.ggml.add_bos_token", false);

  const auto add = [&](const std::string& name, int64_t columns, int64_t rows, uint32_t type, float size,
                       float centre = 0) {
    std::vector<float> values(static_cast<size_t>(columns * rows));
    for (float& value : values) value = centre + size * random.normal();
    Bytes data = encode(type, values);
    std::vector<uint64_t> dimensions{static_cast<uint64_t>(columns)};
    if (rows > 1) dimensions.push_back(static_cast<uint64_t>(rows));
    maker.tensor(name, dimensions, type, std::move(data));
    if (floats != nullptr) (*floats)[name] = std::move(values);
  };
  const int64_t width = shape.embedding, query = shape.heads * shape.head_dim, kv = shape.kv_heads * shape.head_dim;
  const float narrow = 1 / std::sqrt(static_cast<float>(width));
  add("token_embd.weight", width, shape.vocabulary, shape.matrix_type, 1);
  add("output_norm.weight", width, 1, 0, 0.1f, 1);
  if (!shape.tied) add("output.weight", width, shape.vocabulary, shape.matrix_type, narrow);
  if (shape.rope_factors) add("rope_freqs.weight", shape.rotated / 2, 1, 0, 0.1f, 2);
  for (int64_t i = 0; i < shape.layers; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    add(block + "attn_norm.weight", width, 1, 0, 0.1f, 1);
    add(block + "attn_q.weight", width, query, shape.matrix_type, 2 * narrow);
    add(block + "attn_k.weight", width, kv, shape.matrix_type, 2 * narrow);
    add(block + "attn_v.weight", width, kv, shape.matrix_type, narrow);
    add(block + "attn_output.weight", query, width, shape.matrix_type, narrow);
    if (shape.biases) {
      add(block + "attn_q.bias", query, 1, 0, 0.5f);
      add(block + "attn_k.bias", kv, 1, 0, 0.5f);
      add(block + "attn_v.bias", kv, 1, 0, 0.5f);
      add(block + "attn_output.bias", width, 1, 0, 0.5f);
    }
    add(block + (shape.window > 0 ? "post_attention_norm.weight" : "ffn_norm.weight"), width, 1, 0, 0.1f, 1);
    add(block + "ffn_gate.weight", width, shape.inner, shape.matrix_type, narrow);
    add(block + "ffn_up.weight", width, shape.inner, shape.matrix_type, narrow);
    add(block + "ffn_down.weight", shape.inner, width, shape.matrix_type, narrow);
  }
  return maker;
}

}  // namespace halogen::test
