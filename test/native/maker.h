// Makes GGUF files for the tests: byte by byte, so that they can be wrong on purpose, and whole tiny models.
#pragma once
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace halogen::test {

using Bytes = std::vector<uint8_t>;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  uint64_t below(uint64_t limit) { return next() % limit; }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  float normal();

 private:
  uint64_t state_;
};

// Values are appended little-endian.
class GgufMaker {
 public:
  uint32_t version = 3;
  uint64_t alignment = 32;  // how data is laid out; the key is separate

  void key_u32(const std::string& key, uint32_t value);
  void key_f32(const std::string& key, float value);
  void key_boolean(const std::string& key, bool value);
  void key_string(const std::string& key, const std::string& value);
  void key_strings(const std::string& key, const std::vector<std::string>& values);
  void key_floats(const std::string& key, const std::vector<float>& values);
  void key_integers(const std::string& key, const std::vector<int32_t>& values);
  // `value` is everything after the type.
  void key_raw(const std::string& key, uint32_t type, const Bytes& value);
  // Replaces a key of the same name, or adds it.
  void tensor(const std::string& name, std::vector<uint64_t> shape, uint32_t type, Bytes data);
  void drop_key(const std::string& key);
  void drop_tensor(const std::string& name);

  Bytes bytes() const;
  // Where the tensor data begins in bytes().
  uint64_t data_begin() const;

  struct Tensor {
    std::string name;
    std::vector<uint64_t> shape;
    uint32_t type;
    Bytes data;
  };
  std::vector<Tensor> tensors;

 private:
  Bytes header() const;
  std::vector<std::pair<std::string, Bytes>> keys_;
};

template <typename T>
void put(Bytes& bytes, T value) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}
void put_string(Bytes& bytes, const std::string& text);

// A file that is removed with the object.
class ScratchFile {
 public:
  explicit ScratchFile(const Bytes& bytes, const std::string& name = "model.gguf");
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path folder_;
  std::filesystem::path path_;
};

struct TinyShape {
  int64_t vocabulary = 96, embedding = 64, heads = 4, kv_heads = 2, head_dim = 16, inner = 96, layers = 2,
          context = 256;
  bool tied = true;
  bool biases = false;
  bool rope_factors = false;
  float rope_linear = 1;
  int64_t rotated = 16;
  uint32_t matrix_type = 0;  // F32 (0), F16 (1) or Q8_0 (8)
  // 0: a llama. Otherwise the layers of `slides` see so many tokens, as a gpt-oss without experts.
  int64_t window = 0;
  std::vector<bool> slides = {};
};

// A model of random weights. `floats` gets every tensor as the file holds it, dequantised.
GgufMaker tiny_llama(const TinyShape& shape, uint64_t seed,
                     std::map<std::string, std::vector<float>>* floats = nullptr);

}  // namespace halogen::test
