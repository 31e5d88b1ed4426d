#include "native/engine/checkpoint/safetensors.h"

#include <cstring>
#include <set>

#include "native/engine/checkpoint/json.h"
#include "native/engine/error.h"
#include "native/engine/gguf/checked.h"

namespace halogen::checkpoint {
namespace {

constexpr uint64_t longest_header = 100'000'000;  // the format's own limit
constexpr uint64_t longest_index = 256'000'000;
constexpr double largest_whole = 9007199254740992;  // 2^53
constexpr const char* index_name = "model.safetensors.index.json";

constexpr struct {
  const char* name;
  uint64_t bytes;
} types[] = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},  {"I32", 4},     {"I16", 2},    {"I8", 1},
             {"U64", 8}, {"U32", 4}, {"U16", 2}, {"U8", 1},   {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};

[[noreturn]] void malformed(const std::string& file, const std::string& problem) {
  throw Error(code::checkpoint_malformed, file + ": " + problem + ".", "The file is damaged. Download it again.",
              {{"file", file}});
}

uint64_t whole(const json::Value& value, const std::string& file, const std::string& tensor) {
  const double* number = value.number();
  if (number == nullptr || !(*number >= 0 && *number <= largest_whole) ||
      *number != static_cast<double>(static_cast<uint64_t>(*number))) {
    malformed(file, "tensor \"" + tensor + "\" has a size that is no whole number");
  }
  return static_cast<uint64_t>(*number);
}

Stored read_tensor(const json::Value& value, const std::string& file, const std::string& name, uint64_t data_bytes) {
  const json::Value *type = value.find("dtype"), *shape = value.find("shape"), *offsets = value.find("data_offsets");
  if (type == nullptr || type->string() == nullptr || shape == nullptr || shape->array() == nullptr ||
      offsets == nullptr || offsets->array() == nullptr || offsets->array()->size() != 2) {
    malformed(file, "tensor \"" + name + "\" lacks its type, shape or place");
  }
  Stored stored;
  stored.type = *type->string();
  Size elements = 1;
  for (const json::Value& dimension : *shape->array()) {
    stored.shape.push_back(whole(dimension, file, name));
    elements = multiply(elements, stored.shape.back());
  }
  uint64_t element_bytes = 0;
  for (const auto& known : types) {
    if (stored.type == known.name) element_bytes = known.bytes;
  }
  const uint64_t begin = whole((*offsets->array())[0], file, name), end = whole((*offsets->array())[1], file, name);
  if (!elements || begin > end) malformed(file, "tensor \"" + name + "\" has an impossible shape or place");
  stored.elements = *elements;
  stored.bytes = end - begin;
  stored.offset = begin;
  // A type that is not known here may be of any size; whoever needs the tensor refuses it.
  if (element_bytes != 0 && multiply(elements, element_bytes) != Size(stored.bytes)) {
    malformed(file, "tensor \"" + name + "\" has " + std::to_string(stored.bytes) + " bytes for " +
                        std::to_string(stored.elements) + " elements of " + stored.type);
  }
  if (end > data_bytes) {
    throw Error(code::checkpoint_truncated,
                file + " is cut short: tensor \"" + name + "\" ends at byte " + std::to_string(end) +
                    " of its data, which has " + std::to_string(data_bytes) + ".",
                "The download is probably incomplete. Download the file again.",
                {{"file", file}, {"tensor", name}, {"declared", end}, {"actual", data_bytes}});
  }
  return stored;
}

// Names in an index are of files in the same folder and of nothing else.
std::set<std::string> files_of(const std::string& folder) {
  const std::string text = read_text(folder + "/" + index_name, longest_index);
  if (text.empty()) return {"model.safetensors"};
  const json::Value index = json::parse(text, index_name);
  const json::Value* map = index.find("weight_map");
  std::set<std::string> files;
  if (map != nullptr && map->object() != nullptr) {
    for (const auto& [tensor, value] : *map->object()) {
      const std::string* file = value.string();
      if (file == nullptr || file->find_first_of("/\\") != std::string::npos || !file->ends_with(".safetensors"))
        malformed(index_name, "tensor \"" + tensor + "\" is in no safetensors file of this folder");
      files.insert(*file);
    }
  }
  if (files.empty()) malformed(index_name, "it names no files");
  return files;
}

}  // namespace

std::string read_text(const std::string& path, uint64_t most) {
  try {
    const gguf::Mapping mapping(path);
    if (mapping.size() > most) {
      throw Error(
          code::checkpoint_malformed,
          path + " has " + std::to_string(mapping.size()) + " bytes; the limit is " + std::to_string(most) + ".",
          "Download it again.", {{"path", path}, {"bytes", mapping.size()}, {"limit", most}});
    }
    return {reinterpret_cast<const char*>(mapping.data()), static_cast<size_t>(mapping.size())};
  } catch (const Error& error) {
    if (error.code() == code::file_missing) return {};
    throw;
  }
}

Tensors::Tensors(const std::string& folder) {
  for (const std::string& file : files_of(folder)) read(folder, file);
}

void Tensors::read(const std::string& folder, const std::string& file) {
  mappings_.push_back(std::make_unique<gguf::Mapping>(folder + "/" + file));
  const gguf::Mapping& mapping = *mappings_.back();
  uint64_t length = 0;
  if (mapping.size() >= sizeof length) std::memcpy(&length, mapping.data(), sizeof length);
  if (mapping.size() < sizeof length || length > mapping.size() - sizeof length) {
    throw Error(code::checkpoint_truncated,
                file + " is cut short: its header needs " + std::to_string(length) + " bytes and the file has " +
                    std::to_string(mapping.size()) + ".",
                "The download is probably incomplete. Download the file again.",
                {{"file", file}, {"declared", length}, {"actual", mapping.size()}});
  }
  if (length > longest_header) malformed(file, "its header says that it has " + std::to_string(length) + " bytes");
  const uint64_t begin = sizeof length + length;
  const json::Value header =
      json::parse({reinterpret_cast<const char*>(mapping.data()) + sizeof length, static_cast<size_t>(length)}, file);
  if (header.object() == nullptr) malformed(file, "its header is no object");
  for (const auto& [name, value] : *header.object()) {
    if (name == "__metadata__") continue;
    Stored stored = read_tensor(value, file, name, mapping.size() - begin);
    stored.offset += begin;
    stored.data = mapping.data() + stored.offset;
    stored.mapping = &mapping;
    if (!tensors_.emplace(name, std::move(stored)).second) malformed(file, "tensor \"" + name + "\" is there twice");
  }
}

const Stored* Tensors::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

uint64_t Tensors::bytes() const {
  uint64_t sum = 0;
  for (const auto& mapping : mappings_) sum += mapping->size();
  return sum;
}

}  // namespace halogen::checkpoint
