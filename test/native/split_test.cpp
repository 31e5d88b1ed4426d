// A model in several files: whichever part is named, the model is the same; parts that do not fit are refused by name.
#include <fstream>

#include "native/engine/engine.h"
#include "native/engine/gguf/file.h"
#include "test/native/check.h"
#include "test/native/maker.h"

using namespace halogen;
using namespace halogen::test;

namespace {

const EngineOptions reference{"reference", 2, false};

std::string name_of(int part, int parts) {
  char name[64];
  std::snprintf(name, sizeof name, "tiny-%05d-of-%05d.gguf", part, parts);
  return name;
}

// A tiny llama in three parts: the first has the metadata, and the tensors go round in turns.
struct Split {
  static constexpr int count = 3;
  GgufMaker whole = tiny_llama({.matrix_type = 8}, 3);
  std::vector<GgufMaker> parts;

  Split() {
    for (int i = 0; i < count; ++i) {
      GgufMaker part = i == 0 ? whole : GgufMaker();
      part.tensors.clear();
      for (size_t t = static_cast<size_t>(i); t < whole.tensors.size(); t += count)
        part.tensors.push_back(whole.tensors[t]);
      part.key_raw("split.no", 2, {static_cast<uint8_t>(i), 0});
      part.key_raw("split.count", 2, {count, 0});
      Bytes total;
      put(total, static_cast<int32_t>(whole.tensors.size()));
      part.key_raw("split.tensors.count", 5, total);
      parts.push_back(std::move(part));
    }
  }
};

struct Folder {
  explicit Folder(const Split& split) : first(split.parts[0].bytes(), name_of(1, Split::count)) {
    for (int i = 1; i < Split::count; ++i) write(i + 1, split.parts[static_cast<size_t>(i)].bytes());
  }
  std::string path(int part) const {
    return (std::filesystem::path(first.path()).parent_path() / name_of(part, Split::count)).string();
  }
  void write(int part, const Bytes& bytes) const {
    std::ofstream(path(part), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  ScratchFile first;
};

std::vector<int32_t> greedy(const std::string& path) {
  Engine engine(reference);
  GenerateRequest request;
  request.handle = engine.load({.path = path}).handle;
  request.tokens = {5, 17, 42, 9};
  request.max_tokens = 12;
  request.sampling.temperature = 0;
  const auto generation = engine.generate(request);
  std::vector<int32_t> ids;
  for (TokenBatch batch; generation->next(batch);) ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
  return ids;
}

// Every way in must refuse alike, from every part that can still be opened.
Error refused(const std::string& code, const Folder& folder, int part = 1) {
  Engine engine(reference);
  const std::string path = folder.path(part);
  THROWS(code, engine.inspect(path));
  THROWS(code, engine.vocabulary(path));
  THROWS(code, engine.plan({.path = path}));
  return THROWS(code, engine.load({.path = path}));
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST(split_any_part_opens_the_model) {
  const Split split;
  const Folder folder(split);
  const ScratchFile whole(split.whole.bytes());
  const std::vector<int32_t> expected = greedy(whole.path());
  EQUAL(expected.size(), 12u);
  const Engine engine(reference);
  const ModelInspection one = engine.inspect(whole.path());
  const MemoryPlan plan = engine.plan({.path = whole.path()});
  for (int part = 1; part <= Split::count; ++part) {
    const std::string path = folder.path(part);
    CHECK(greedy(path) == expected);
    const ModelInspection inspection = engine.inspect(path);
    CHECK(inspection.supported);
    EQUAL(inspection.path, path);
    EQUAL(inspection.parameters, one.parameters);
    CHECK(inspection.formats == one.formats);
    uint64_t bytes = 0;
    for (const GgufMaker& each : split.parts) bytes += each.bytes().size();
    EQUAL(inspection.bytes, bytes);
    EQUAL(engine.plan({.path = path}).total, plan.total);
    EQUAL(engine.vocabulary(path).tokens.offsets.size(), 97u);
  }
}

TEST(split_every_tensor_is_read_from_its_own_part) {
  const Split split;
  const Folder folder(split);
  const gguf::File file(folder.path(2));
  EQUAL(file.tensors().size(), split.whole.tensors.size());
  for (const GgufMaker::Tensor& tensor : split.whole.tensors) {
    const gguf::Tensor* found = file.tensor(tensor.name);
    CHECK(found != nullptr);
    EQUAL(found->bytes, tensor.data.size());
    CHECK(std::equal(tensor.data.begin(), tensor.data.end(), file.tensor_data(*found)));
  }
}

TEST(split_first_part_may_hold_the_metadata_alone) {
  Split split;
  for (const GgufMaker::Tensor& tensor : split.parts[0].tensors) split.parts[2].tensors.push_back(tensor);
  split.parts[0].tensors.clear();
  const ScratchFile whole(split.whole.bytes());
  CHECK(greedy(Folder(split).path(3)) == greedy(whole.path()));
}

TEST(split_names_the_part_that_is_missing) {
  const Split split;
  for (int gone = 1; gone <= Split::count; ++gone) {
    const Folder folder(split);
    std::filesystem::remove(folder.path(gone));
    const Error error = refused("file.missing", folder, gone == 1 ? 2 : 1);
    CHECK(has(error.message(), name_of(gone, Split::count)));
    EQUAL(number(error, "part"), gone);
  }
}

TEST(split_names_the_part_that_is_cut) {
  const Split split;
  const Folder folder(split);
  Bytes cut = split.parts[1].bytes();
  cut.pop_back();
  folder.write(2, cut);
  const Error error = refused("gguf.truncated", folder);
  CHECK(has(error.message(), name_of(2, Split::count)));
  EQUAL(number(error, "declared"), cut.size() + 1);
  folder.write(2, {});
  CHECK(has(refused("gguf.empty", folder, 3).message(), name_of(2, Split::count)));
}

TEST(split_refuses_parts_of_different_sets) {
  const auto refuse = [](const Split& split) { return refused("gguf.malformed", Folder(split)).message(); };
  Split count;
  count.parts[1].key_raw("split.count", 2, {4, 0});
  CHECK(has(refuse(count), "part 2 of 4"));
  Split order;
  std::swap(order.parts[1], order.parts[2]);
  CHECK(has(refuse(order), "part 3 of 3"));
  Split alone;
  alone.parts[2].drop_key("split.no");
  CHECK(has(refuse(alone), "no part"));
  Split architecture;
  architecture.parts[1].key_string("general.architecture", "qwen2");
  CHECK(has(refuse(architecture), "\"qwen2\""));
  Split total;
  total.parts[2].key_raw("split.tensors.count", 5, {77, 0, 0, 0});
  CHECK(has(refuse(total), "77 tensors"));
  Split twice;
  twice.parts[2].tensors[0].name = twice.parts[1].tensors[1].name;
  CHECK(has(refuse(twice), "in two parts"));
  Split fewer;
  fewer.parts[2].tensors.pop_back();
  CHECK(has(refuse(fewer), "should have"));
}

TEST(split_needs_the_names) {
  const Split split;
  const ScratchFile renamed(split.parts[1].bytes(), "renamed.gguf");
  const Error error = THROWS("gguf.malformed", gguf::File(renamed.path()));
  CHECK(has(error.message(), "-00002-of-00003.gguf"));
  GgufMaker beyond = split.parts[1];
  beyond.key_raw("split.no", 2, {9, 0});
  const ScratchFile file(beyond.bytes(), name_of(2, 3));
  THROWS("gguf.malformed", gguf::File(file.path()));
}
