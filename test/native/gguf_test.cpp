#include "native/engine/gguf/file.h"

#include "native/engine/engine.h"
#include "test/native/check.h"
#include "test/native/maker.h"

using namespace halogen;
using namespace halogen::test;
using gguf::File;

namespace {

const Bytes& sound() {
  static const Bytes bytes = tiny_llama({}, 1).bytes();
  return bytes;
}

Error refused(const std::string& code, const Bytes& bytes) {
  const ScratchFile file(bytes);
  return THROWS(code, File opened(file.path()));
}

Bytes text_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

GgufMaker small() {
  GgufMaker maker;
  maker.key_string("general.architecture", "llama");
  maker.tensor("a", {32}, 0, Bytes(128, 1));
  maker.tensor("b", {32, 2}, 8, Bytes(68, 2));
  return maker;
}

}  // namespace

TEST(gguf_reads_both_versions) {
  for (const uint32_t version : {2u, 3u}) {
    GgufMaker maker = small();
    maker.version = version;
    const ScratchFile scratch(maker.bytes(), "模型 é😀.gguf");
    const File file(scratch.path());
    EQUAL(file.version(), version);
    EQUAL(file.tensors().size(), 2u);
    const gguf::Tensor* b = file.tensor("b");
    CHECK(b != nullptr);
    EQUAL(b->bytes, 68u);
    EQUAL(b->elements, 64u);
    EQUAL(std::string(b->format->name), "Q8_0");
    EQUAL(b->offset, maker.data_begin() + 128);
    EQUAL(int(file.tensor_data(*b)[0]), 2);
    EQUAL(std::string(*file.string("general.architecture")), "llama");
    CHECK(file.tensor("c") == nullptr);
  }
}

TEST(gguf_refuses_what_is_not_gguf) {
  EQUAL(number(refused("gguf.empty", {}), "actual"), 0);
  const auto says = [](const std::string& content, const std::string& words) {
    const Error error = refused("gguf.not_gguf", text_bytes(content));
    if (error.message().find(words) == std::string::npos) fail("for ", content, ": ", error.message());
  };
  says("Hello, this is a note about a model.", "text file");
  says("<!DOCTYPE html><html>404</html>", "web page");
  says("version https://git-lfs.github.com/spec/v1", "Git LFS pointer");
  says(std::string("PK\x03\x04", 4) + std::string(40, 'x'), "ZIP");
  says(std::string("\x40\0\0\0\0\0\0\0{\"a\":1}", 15), "safetensors");
  refused("gguf.not_gguf", Bytes(64, 0));
}

TEST(gguf_missing_and_unreadable_files) {
  THROWS("file.missing", File file("/nowhere/at/all.gguf"));
  THROWS("file.unreadable", File file("/tmp"));
  THROWS("file.unreadable", File file("/dev/null"));
}

TEST(gguf_cut_anywhere_inside_the_header_says_so) {
  GgufMaker maker = small();
  const Bytes whole = maker.bytes();
  const uint64_t header = maker.data_begin() - 31;
  for (uint64_t size = 1; size < header; ++size) {
    const Error error =
        refused("gguf.truncated", Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EQUAL(number(error, "actual"), static_cast<double>(size));
    CHECK(number(error, "declared") > static_cast<double>(size));
  }
}

TEST(gguf_cut_in_the_data_names_tensor_and_bytes) {
  for (const size_t size : {sound().size() / 2, sound().size() - 1}) {
    const Error error =
        refused("gguf.truncated", Bytes(sound().begin(), sound().begin() + static_cast<std::ptrdiff_t>(size)));
    EQUAL(number(error, "actual"), static_cast<double>(size));
    EQUAL(number(error, "declared"), static_cast<double>(sound().size()));
    CHECK(!text(error, "tensor").empty());
    CHECK(!error.hint().empty());
  }
  const Error last = refused("gguf.truncated", Bytes(sound().begin(), sound().end() - 1));
  EQUAL(text(last, "tensor"), "blk.1.ffn_down.weight");
  EQUAL(number(last, "tensors"), 1);
}

TEST(gguf_impossible_lengths) {
  GgufMaker maker = small();
  Bytes array;
  put<uint32_t>(array, 4);
  put<uint64_t>(array, uint64_t{1} << 60);
  maker.key_raw("x.array", 9, array);
  const Error error = refused("gguf.limit", maker.bytes());
  EQUAL(number(error, "count"), 0x1p60);
  CHECK(error.message().find("x.array") != std::string::npos);

  for (const uint64_t length : {uint64_t{1} << 60, UINT64_MAX, UINT64_MAX - 7}) {
    GgufMaker strings = small();
    Bytes text;
    put(text, length);
    strings.key_raw("x.text", 8, text);
    refused("gguf.limit", strings.bytes());
    GgufMaker nested = small();
    Bytes list;
    put<uint32_t>(list, 8);
    put(list, length);
    nested.key_raw("x.list", 9, list);
    refused("gguf.limit", nested.bytes());
  }
  Bytes counts{'G', 'G', 'U', 'F', 3, 0, 0, 0};
  put<uint64_t>(counts, UINT64_MAX);
  put<uint64_t>(counts, 0);
  refused("gguf.limit", counts);
}

TEST(gguf_malformed_headers) {
  const auto with_key = [](uint32_t type, const Bytes& value) {
    GgufMaker maker = small();
    maker.key_raw("x.key", type, value);
    return maker.bytes();
  };
  refused("gguf.malformed", with_key(13, {1, 2, 3, 4}));
  refused("gguf.malformed", with_key(7, {2}));
  Bytes nested;
  put<uint32_t>(nested, 9);
  put<uint64_t>(nested, 1);
  refused("gguf.malformed", with_key(9, nested));

  const auto with_tensor = [](std::vector<uint64_t> shape, uint32_t type) {
    GgufMaker maker = small();
    maker.tensor("c", std::move(shape), type, Bytes(64, 0));
    return maker.bytes();
  };
  refused("gguf.malformed", with_tensor({uint64_t{1} << 32, uint64_t{1} << 32}, 0));
  refused("gguf.malformed", with_tensor({uint64_t{1} << 62, 1}, 0));
  refused("gguf.malformed", with_tensor({0, 4}, 0));
  refused("gguf.malformed", with_tensor({}, 0));
  refused("gguf.malformed", with_tensor({1, 1, 1, 1, 1}, 0));
  refused("gguf.malformed", with_tensor({33}, 8));
}

TEST(gguf_names_appear_once) {
  GgufMaker maker = small();
  maker.tensors.push_back(maker.tensors.front());
  CHECK(refused("gguf.malformed", maker.bytes()).message().find("twice") != std::string::npos);
  Bytes twice{'G', 'G', 'U', 'F', 3, 0, 0, 0};
  put<uint64_t>(twice, 0);
  put<uint64_t>(twice, 2);
  for (int i = 0; i < 2; ++i) {
    put_string(twice, "x.key");
    put<uint32_t>(twice, 0);
    put<uint8_t>(twice, 1);
  }
  CHECK(refused("gguf.malformed", twice).message().find("twice") != std::string::npos);
}

TEST(gguf_alignment) {
  GgufMaker good = small();
  good.alignment = 128;
  good.key_u32("general.alignment", 128);
  const ScratchFile scratch(good.bytes());
  EQUAL(File(scratch.path()).tensor("b")->offset % 128, 0u);
  for (const uint32_t value : {0u, 3u, 48u, 1u << 21}) {
    GgufMaker bad = small();
    bad.key_u32("general.alignment", value);
    refused("gguf.malformed", bad.bytes());
  }
  GgufMaker wrong = small();
  wrong.key_string("general.alignment", "32");
  EQUAL(text(refused("gguf.wrong_type", wrong.bytes()), "key"), "general.alignment");
  GgufMaker misplaced = small();
  misplaced.alignment = 4;
  misplaced.tensor("a", {33}, 0, Bytes(132, 1));
  misplaced.tensor("b", {32, 2}, 8, Bytes(68, 2));
  refused("gguf.malformed", misplaced.bytes());
}

TEST(gguf_versions_and_byte_order) {
  for (const uint32_t version : {0u, 1u, 4u}) {
    GgufMaker maker = small();
    maker.version = version;
    EQUAL(number(refused("gguf.version", maker.bytes()), "version"), version);
  }
  GgufMaker swapped = small();
  swapped.version = 0x03000000;
  refused("gguf.byte_order", swapped.bytes());
}

TEST(gguf_typed_getters) {
  GgufMaker maker = small();
  maker.key_string("x.text", "seven");
  maker.key_u32("x.number", 7);
  maker.key_f32("x.real", 1.5f);
  maker.key_integers("x.list", {3, 4});
  maker.key_raw("x.negative", 5, {0xff, 0xff, 0xff, 0xff});
  const ScratchFile scratch(maker.bytes());
  const File file(scratch.path());
  EQUAL(*file.whole("x.number"), 7u);
  EQUAL(*file.real("x.number"), 7.0);
  EQUAL(*file.real("x.real"), 1.5);
  EQUAL(*file.whole_at("x.list", 1), 4u);
  EQUAL(*file.whole_at("x.number", 9), 7u);
  CHECK(!file.whole("x.absent"));
  const Error error = THROWS("gguf.wrong_type", file.whole("x.text"));
  EQUAL(text(error, "key"), "x.text");
  EQUAL(text(error, "found"), "string");
  THROWS("gguf.wrong_type", file.whole("x.negative"));
  THROWS("gguf.wrong_type", file.whole_at("x.list", 2));
  THROWS("gguf.wrong_type", file.string("x.number"));
  THROWS("gguf.wrong_type", file.boolean("x.number"));
  THROWS("gguf.wrong_type", file.array("x.list", gguf::Type::f32));
}

// Flips, cuts and splices of a sound file: an Error or a success, never anything else. Run under the sanitizers.
TEST(gguf_mutations_never_crash) {
  GgufMaker maker =
      tiny_llama({.vocabulary = 24, .embedding = 32, .heads = 2, .kv_heads = 1, .inner = 32, .layers = 1}, 2);
  const Bytes whole = maker.bytes();
  const uint64_t header = maker.data_begin();
  Random random(20261130);
  Engine engine({"reference", 1, false});
  int refused = 0, accepted = 0;
  for (int round = 0; round < 2500; ++round) {
    Bytes bytes = whole;
    const uint64_t changes = 1 + random.below(4);
    for (uint64_t i = 0; i < changes; ++i) {
      const uint64_t at = random.below(header);
      switch (random.below(4)) {
        case 0:
          bytes[at] ^= static_cast<uint8_t>(1u << random.below(8));
          break;
        case 1:
          bytes[at] = static_cast<uint8_t>(random.below(2) == 0 ? 0xff : random.below(256));
          break;
        case 2: {
          const uint64_t value = random.below(3) == 0 ? UINT64_MAX : uint64_t{1} << random.below(64);
          for (uint64_t j = 0; j < 8 && at + j < header; ++j) bytes[at + j] = static_cast<uint8_t>(value >> (8 * j));
          break;
        }
        default:
          std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(at / 2),
                    bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    bytes.begin() + static_cast<std::ptrdiff_t>(at / 4));
      }
    }
    if (random.below(4) == 0) bytes.resize(random.below(bytes.size()));
    const ScratchFile file(bytes);
    const auto attempt = [&](auto&& call) {
      try {
        call();
        ++accepted;
      } catch (const Error&) {
        ++refused;
      }
    };
    attempt([&] { engine.inspect(file.path()); });
    attempt([&] { engine.vocabulary(file.path()); });
    attempt([&] { engine.plan({.path = file.path()}); });
    if (round % 8 == 0)
      attempt([&] { engine.unload(engine.load({.path = file.path(), .context_length = 64}).handle); });
  }
  CHECK(refused > 1000);
  CHECK(accepted > 200);
}
