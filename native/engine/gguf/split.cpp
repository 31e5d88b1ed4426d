#include "native/engine/gguf/split.h"

#include <cstdio>
#include <map>

#include "native/engine/error.h"

namespace halogen::gguf {
namespace {

constexpr const char* hint_together = "Download all parts of the model again, into one folder, under their own names.";
constexpr uint64_t most_parts = 99999;  // what the names have room for

std::string file_name(const std::string& path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string suffix(uint64_t part, uint64_t parts) {
  char text[64];
  std::snprintf(text, sizeof text, "-%05u-of-%05u.gguf", static_cast<unsigned>(part), static_cast<unsigned>(parts));
  return text;
}

std::string place(uint64_t part, uint64_t parts, const std::string& path) {
  return "Part " + std::to_string(part) + " of " + std::to_string(parts) + " (" + file_name(path) + ")";
}

Part open(const std::string& path, uint64_t part, uint64_t parts) {
  Detail detail{{"part", part}, {"parts", parts}, {"path", path}};
  try {
    return Part(path);
  } catch (const Error& error) {
    const bool missing = error.code() == code::file_missing;
    const std::string message = missing ? "Part " + std::to_string(part) + " of " + std::to_string(parts) +
                                              " of this model is missing: there is no " + file_name(path) +
                                              " beside the others."
                                        : place(part, parts, path) + ": " + error.message();
    for (const auto& [key, value] : error.detail()) detail.emplace(key, value);
    throw Error(error.code(), message, missing ? "Download it into the same folder." : error.hint(), std::move(detail));
  }
}

[[noreturn]] void do_not_match(const std::string& message, Detail detail) {
  throw Error(code::gguf_malformed, message, hint_together, std::move(detail));
}

uint64_t count_of(const Part& part) {
  return part.metadata.whole("split.count").value_or(1);
}

// Each part says where it belongs, and how many tensors all have; most say nothing of the architecture.
void check(const std::vector<Part>& parts) {
  const uint64_t count = parts.size();
  const auto architecture = parts.front().metadata.string("general.architecture");
  const auto declared = parts.front().metadata.whole("split.tensors.count");
  uint64_t tensors = 0;
  std::map<std::string_view, size_t> names;
  for (size_t i = 0; i < count; ++i) {
    const Part& part = parts[i];
    const std::string where = place(i + 1, count, part.path);
    Detail detail{{"part", i + 1}, {"parts", count}, {"path", part.path}};
    const uint64_t number = part.metadata.whole("split.no").value_or(UINT64_MAX - 1) + 1;
    if (count_of(part) != count || number != i + 1) {
      const std::string says = number > count_of(part)
                                   ? "no part"
                                   : "part " + std::to_string(number) + " of " + std::to_string(count_of(part));
      do_not_match(where + " says inside that it is " + says + ".", std::move(detail));
    }
    const auto own = part.metadata.string("general.architecture");
    if (own && architecture && *own != *architecture) {
      do_not_match(where + " is of a \"" + std::string(*own) + "\" model, the first part of a \"" +
                       std::string(*architecture) + "\" model: they are of different sets.",
                   std::move(detail));
    }
    const auto total = part.metadata.whole("split.tensors.count");
    if (total && declared && *total != *declared) {
      detail.insert({{"declared", *declared}, {"actual", *total}});
      do_not_match(where + " belongs to a model of " + std::to_string(*total) + " tensors, the first part to one of " +
                       std::to_string(*declared) + ": they are of different sets.",
                   std::move(detail));
    }
    tensors += part.tensors.size();
    for (const Tensor& tensor : part.tensors) {
      const auto [found, is_new] = names.emplace(tensor.name, i);
      if (is_new) continue;
      detail.emplace("tensor", std::string(tensor.name));
      do_not_match("Tensor \"" + std::string(tensor.name) + "\" is in two parts, " +
                       file_name(parts[found->second].path) + " and " + file_name(part.path) + ".",
                   std::move(detail));
    }
  }
  if (declared && *declared != tensors) {
    do_not_match("The model should have " + std::to_string(*declared) + " tensors, and its " + std::to_string(count) +
                     " parts hold " + std::to_string(tensors) + ".",
                 {{"declared", *declared}, {"actual", tensors}, {"parts", count}});
  }
}

}  // namespace

bool is_joined(const Part& part) {
  const Mapping& mapping = *part.mapping;
  return count_of(part) > 1 && mapping.size() >= part.data_end + 4 &&
         std::memcmp(mapping.data() + part.data_end, "GGUF", 4) == 0;
}

std::vector<Part> all_parts(Part opened) {
  std::vector<Part> parts;
  const uint64_t count = count_of(opened);
  if (count <= 1 || is_joined(opened)) {
    parts.push_back(std::move(opened));
    return parts;
  }
  const uint64_t number = opened.metadata.whole("split.no").value_or(0) + 1;
  const Detail detail{{"part", number}, {"parts", count}, {"path", opened.path}};
  if (count > most_parts || number > count) {
    do_not_match("The file says that it is part " + std::to_string(number) + " of " + std::to_string(count) + ".",
                 detail);
  }
  const std::string end = suffix(number, count);
  if (!opened.path.ends_with(end)) {
    do_not_match("This is part " + std::to_string(number) + " of " + std::to_string(count) +
                     " of a split model, and its name does not end in \"" + end + "\", so the others cannot be found.",
                 detail);
  }
  const std::string stem = opened.path.substr(0, opened.path.size() - end.size());
  for (uint64_t i = 1; i <= count; ++i) {
    if (i == number)
      parts.push_back(std::move(opened));
    else
      parts.push_back(open(stem + suffix(i, count), i, count));
  }
  check(parts);
  return parts;
}

}  // namespace halogen::gguf
