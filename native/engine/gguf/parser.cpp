// Reads a GGUF header. Nothing read from the file is used as a size, count, offset or type before it was checked.
#include <bit>
#include <unordered_set>

#include "native/engine/error.h"
#include "native/engine/gguf/checked.h"
#include "native/engine/gguf/part.h"
#include "native/engine/gguf/sniff.h"

namespace halogen::gguf {
namespace {

constexpr uint64_t most_keys = 1u << 20;
constexpr uint64_t most_tensors = 1u << 20;
constexpr uint64_t longest_name = 65535;
constexpr uint64_t largest_alignment = 1u << 20;
// A size beyond this was never written by anyone: the header is damaged, rather than the file cut.
constexpr uint64_t implausible_bytes = uint64_t{1} << 46;
constexpr const char* hint_cut = "The download is probably incomplete. Download the file again.";
constexpr const char* hint_damaged = "The file is damaged. Download it again.";

}  // namespace

class Parser {
 public:
  explicit Parser(Part& part) : part_(part), data_(part.mapping->data()), size_(part.mapping->size()) {}

  void parse() {
    read_prologue();
    for (uint64_t i = 0; i < key_count_; ++i) read_key(i);
    const uint64_t alignment = read_alignment();
    for (uint64_t i = 0; i < tensor_count_; ++i) read_tensor(i, alignment);
    place_tensors(alignment);
  }

 private:
  void read_prologue() {
    if (size_ == 0) {
      throw Error(code::gguf_empty, "The file is empty (0 bytes).", hint_cut, {{"actual", 0}});
    }
    if (size_ < 4 || std::memcmp(data_, "GGUF", 4) != 0) {
      if (size_ < 4 && std::memcmp(data_, "GGUF", size_) == 0) truncated(24);
      throw Error(code::gguf_not_gguf, "This is not a GGUF file. " + sniff(data_, size_),
                  "Choose a model file in GGUF format.", {{"actual", size_}});
    }
    position_ = 4;
    what_ = "the header's fixed part";
    part_.version = read<uint32_t>();
    if (part_.version != 0 && (part_.version & 0xffffu) == 0) {
      throw Error(code::gguf_byte_order, "This GGUF file is big-endian; Halogen reads little-endian files.",
                  "Download the little-endian (usual) version of this model.", {{"version", part_.version}});
    }
    if (part_.version != 2 && part_.version != 3) {
      throw Error(code::gguf_version,
                  "This GGUF file has version " + std::to_string(part_.version) + "; Halogen reads versions 2 and 3.",
                  part_.version < 2 ? "Download a newer conversion of this model." : "A newer Halogen may read it.",
                  {{"version", part_.version}});
    }
    tensor_count_ = read<uint64_t>();
    key_count_ = read<uint64_t>();
    check_count("tensors", tensor_count_, most_tensors, 8 + 4 + 8 + 4 + 8);
    check_count("keys", key_count_, most_keys, 8 + 4 + 1);
  }

  void read_key(uint64_t index) {
    what_ = "key " + std::to_string(index + 1) + " of " + std::to_string(key_count_);
    const std::string_view key = read_name();
    what_ += " (\"" + std::string(key) + "\")";
    Value value;
    value.type = read_type();
    if (value.type == Type::string) {
      value.text = read_string();
    } else if (value.type == Type::array) {
      read_array(value);
    } else {
      value.data = data_ + position_;
      take(type_bytes(value.type));
      if (value.type == Type::boolean && value.data[0] > 1)
        malformed("holds " + std::to_string(value.data[0]) + " as a boolean");
    }
    if (!part_.metadata.add(key, value)) malformed("appears twice");
  }

  void read_array(Value& value) {
    value.element = read_type();
    if (value.element == Type::array) malformed("is an array of arrays");
    value.count = read<uint64_t>();
    value.data = data_ + position_;
    const uint64_t smallest = value.element == Type::string ? 8 : type_bytes(value.element);
    const Size bytes = multiply(value.count, smallest);
    if (!bytes || *bytes > remaining()) {
      too_long("is an array of " + std::to_string(value.count) + " entries", bytes, {{"count", value.count}});
    }
    if (value.element == Type::string) {
      for (uint64_t i = 0; i < value.count; ++i) read_string();
    } else {
      take(*bytes);
    }
  }

  uint64_t read_alignment() {
    const std::optional<uint64_t> alignment = part_.metadata.whole("general.alignment");
    if (!alignment) return 32;
    if (!std::has_single_bit(*alignment) || *alignment > largest_alignment) {
      throw Error(code::gguf_malformed,
                  "general.alignment is " + std::to_string(*alignment) + ", which is not a power of two in range.",
                  hint_damaged, {{"key", "general.alignment"}, {"value", *alignment}});
    }
    return *alignment;
  }

  void read_tensor(uint64_t index, uint64_t alignment) {
    what_ = "tensor " + std::to_string(index + 1) + " of " + std::to_string(tensor_count_);
    Tensor tensor;
    tensor.name = read_name();
    what_ += " (\"" + std::string(tensor.name) + "\")";
    tensor.dimensions = read<uint32_t>();
    if (tensor.dimensions < 1 || tensor.dimensions > 4)
      malformed("has " + std::to_string(tensor.dimensions) + " dimensions");
    Size elements = 1;
    for (uint32_t i = 0; i < tensor.dimensions; ++i) {
      tensor.shape[i] = read<uint64_t>();
      elements = multiply(elements, tensor.shape[i]);
    }
    if (!elements || *elements == 0 || *elements > static_cast<uint64_t>(INT64_MAX))
      malformed("has the impossible shape " + shape(tensor));
    tensor.elements = *elements;
    tensor.type_id = read<uint32_t>();
    tensor.format = format_of(tensor.type_id);
    tensor.offset = read<uint64_t>();
    if (tensor.offset % alignment != 0) {
      malformed("starts at " + std::to_string(tensor.offset) + ", not a multiple of " + std::to_string(alignment));
    }
    if (tensor.format != nullptr && tensor.format->bytes != 0) {
      if (tensor.shape[0] % tensor.format->elements != 0) {
        malformed("has rows of " + std::to_string(tensor.shape[0]) + " elements, not a multiple of the " +
                  std::to_string(tensor.format->elements) + " of a " + tensor.format->name + " block");
      }
      const Size bytes = multiply(tensor.elements / tensor.format->elements, tensor.format->bytes);
      if (!bytes) malformed("has the impossible shape " + shape(tensor));
      tensor.bytes = *bytes;
    }
    if (!names_.insert(tensor.name).second) malformed("appears twice");
    part_.tensors.push_back(tensor);
  }

  void place_tensors(uint64_t alignment) {
    const Size begin = align_up(position_, alignment);
    part_.data_end = position_;
    const Tensor* beyond = nullptr;
    Size needed = 0;
    uint64_t missing = 0;
    for (Tensor& tensor : part_.tensors) {
      const Size start = plus(begin, tensor.offset);
      const Size end = plus(start, tensor.bytes);
      if (!end) {
        what_ = "tensor \"" + std::string(tensor.name) + "\"";
        malformed("starts at " + std::to_string(tensor.offset) + ", beyond any file");
      }
      tensor.offset = *start;
      if (*end <= size_) tensor.data = data_ + *start;
      tensor.mapping = part_.mapping.get();
      if (*end > size_) {
        ++missing;
        if (beyond == nullptr) beyond = &tensor;
      }
      if (*end > *needed) needed = end;
    }
    part_.data_end = std::max(part_.data_end, *needed);
    if (beyond != nullptr) {
      throw Error(
          code::gguf_truncated,
          "The file is cut short: it should have at least " + std::to_string(*needed) + " bytes and has " +
              std::to_string(size_) + ". Tensor \"" + std::string(beyond->name) + "\" (bytes " +
              std::to_string(beyond->offset) + " to " + std::to_string(beyond->offset + beyond->bytes) +
              ") is the first of " + std::to_string(missing) + " that are not all there.",
          hint_cut,
          {{"declared", *needed}, {"actual", size_}, {"tensor", std::string(beyond->name)}, {"tensors", missing}});
    }
  }

  template <typename T>
  T read() {
    const uint64_t at = position_;
    take(sizeof(T));
    T value;
    std::memcpy(&value, data_ + at, sizeof value);
    return value;
  }

  std::string_view read_string() {
    const uint64_t length = read<uint64_t>();
    if (length > remaining())
      too_long("holds a string of " + std::to_string(length) + " bytes", length, {{"length", length}});
    const uint64_t at = position_;
    take(length);
    return {reinterpret_cast<const char*>(data_ + at), static_cast<size_t>(length)};
  }

  std::string_view read_name() {
    const std::string_view name = read_string();
    if (name.empty() || name.size() > longest_name)
      malformed("has a name of " + std::to_string(name.size()) + " bytes");
    return name;
  }

  Type read_type() {
    const uint32_t id = read<uint32_t>();
    if (id > static_cast<uint32_t>(Type::f64)) malformed("has the unknown value type " + std::to_string(id));
    return static_cast<Type>(id);
  }

  uint64_t remaining() const { return size_ - position_; }

  void take(uint64_t bytes) {
    if (bytes > remaining()) truncated(position_ + bytes);
    position_ += bytes;
  }

  void check_count(const char* things, uint64_t count, uint64_t most, uint64_t smallest) {
    if (count > most) {
      throw Error(code::gguf_limit,
                  "The header declares " + std::to_string(count) + " " + things + "; the limit is " +
                      std::to_string(most) + ".",
                  hint_damaged, {{"declared", count}, {"limit", most}});
    }
    what_ = std::string("its ") + things;
    if (count * smallest > remaining()) truncated(position_ + count * smallest);
  }

  static std::string shape(const Tensor& tensor) {
    std::string text = "[";
    for (uint32_t i = 0; i < tensor.dimensions; ++i) text += (i == 0 ? "" : ", ") + std::to_string(tensor.shape[i]);
    return text + "]";
  }

  [[noreturn]] void truncated(uint64_t declared) const {
    throw Error(code::gguf_truncated,
                "The file ends inside its header: it has " + std::to_string(size_) + " bytes, and " + what_ +
                    " needs at least " + std::to_string(declared) + ".",
                hint_cut, {{"declared", declared}, {"actual", size_}, {"at", what_}});
  }

  [[noreturn]] void too_long(const std::string& problem, Size bytes, Detail detail) const {
    const Size declared = plus(position_, bytes);
    if (declared && *declared < implausible_bytes) truncated(*declared);
    detail.emplace("remaining", remaining());
    detail.emplace("at", what_);
    throw Error(code::gguf_limit,
                "The header is damaged: " + what_ + " " + problem + ", but only " + std::to_string(remaining()) +
                    " bytes of the file remain.",
                hint_damaged, std::move(detail));
  }

  [[noreturn]] void malformed(const std::string& problem) const {
    throw Error(code::gguf_malformed, "The header is damaged: " + what_ + " " + problem + ".", hint_damaged,
                {{"at", what_}, {"position", position_}});
  }

  Part& part_;
  const uint8_t* data_;
  uint64_t size_;
  uint64_t position_ = 0;
  uint64_t tensor_count_ = 0;
  uint64_t key_count_ = 0;
  std::string what_;
  std::unordered_set<std::string_view> names_;
};

Part::Part(const std::string& path) : path(path), mapping(std::make_unique<Mapping>(path)) {
  Parser(*this).parse();
}

}  // namespace halogen::gguf
