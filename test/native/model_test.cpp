// Architectures, plans, inspection, vocabulary and the kernel registry.
#include <unistd.h>

#include <fstream>

#include "native/backend/cpu/arena.h"
#include "native/backend/registry.h"
#include "native/engine/engine.h"
#include "native/engine/gguf/checked.h"
#include "test/native/check.h"
#include "test/native/maker.h"

using namespace halogen;
using namespace halogen::test;

namespace {

const EngineOptions reference{"reference", 2, false};

Error load_refused(const std::string& code, const GgufMaker& maker) {
  const ScratchFile file(maker.bytes());
  Engine engine(reference);
  const ModelInspection inspection = engine.inspect(file.path());
  CHECK(!inspection.supported);
  CHECK(!inspection.problem.empty());
  const Error error = THROWS(code, engine.load({.path = file.path()}));
  EQUAL(inspection.problem, error.message());
  THROWS(code, engine.plan({.path = file.path()}));
  return error;
}

}  // namespace

TEST(model_inspection) {
  const TinyShape shape;
  GgufMaker maker = tiny_llama(shape, 1);
  maker.key_string("tokenizer.chat_template", "{{ messages }}");
  const ScratchFile file(maker.bytes());
  const ModelInspection inspection = Engine(reference).inspect(file.path());
  CHECK(inspection.supported);
  EQUAL(inspection.problem, "");
  EQUAL(inspection.architecture, "llama");
  EQUAL(inspection.name, "Tiny");
  EQUAL(inspection.bytes, maker.bytes().size());
  EQUAL(inspection.format, "F32");
  EQUAL(inspection.context_length, 256u);
  EQUAL(inspection.block_count, 2u);
  EQUAL(inspection.head_count, 4u);
  EQUAL(inspection.vocabulary_size, 96u);
  EQUAL(*inspection.chat_template, "{{ messages }}");
  uint64_t parameters = 0, bytes = 0;
  for (const auto& tensor : maker.tensors) {
    bytes += tensor.data.size();
    parameters += tensor.data.size() / 4;
  }
  EQUAL(inspection.parameters, parameters);
  EQUAL(inspection.formats.at("F32"), bytes);
  EQUAL(inspection.metadata.front().first, "general.architecture");
  bool array = false;
  for (const auto& [key, value] : inspection.metadata)
    array = array || (key == "tokenizer.ggml.tokens" && *value.string() == "[96]");
  CHECK(array);
}

TEST(model_unknown_architecture_is_not_damage) {
  GgufMaker maker = tiny_llama({}, 1);
  maker.key_string("general.architecture", "future9");
  const Error error = load_refused("model.unknown_architecture", maker);
  EQUAL(error.message(), "This file is fine; Halogen does not know \"future9\" models yet.");
  EQUAL(text(error, "architecture"), "future9");
}

TEST(model_unsupported_formats_are_named) {
  const auto with_type = [](uint32_t type) {
    GgufMaker maker = tiny_llama({}, 1);
    maker.tensor("blk.0.attn_q.weight", {64, 64}, type, Bytes(64 * 64 * 4, 0));
    return maker;
  };
  EQUAL(text(load_refused("model.unsupported_format", with_type(24)), "format"), "I8");
  EQUAL(text(load_refused("model.unsupported_format", with_type(31)), "format"), "Q4_0_4_4");
  // bitnet.cpp's, in whatever architecture.
  EQUAL(text(load_refused("model.unsupported_format", with_type(36)), "format"), "I2_S");
  const Error unknown = load_refused("model.unsupported_format", with_type(4242));
  EQUAL(number(unknown, "type"), 4242);
  EQUAL(text(unknown, "tensor"), "blk.0.attn_q.weight");
}

TEST(model_tensors_that_nothing_reads_are_refused) {
  for (const char* name : {"blk.1.attn_q_norm.weight", "blk.0.attn_norm.bias"}) {
    GgufMaker maker = tiny_llama({}, 1);
    maker.tensor(name, {4}, 0, Bytes(16, 0));
    const Error error = load_refused("model.bad_value", maker);
    EQUAL(text(error, "feature"), "the tensor \"" + std::string(name) + "\"");
  }
}

TEST(model_missing_and_wrong_parts) {
  GgufMaker tensor = tiny_llama({}, 1);
  tensor.drop_tensor("blk.1.ffn_up.weight");
  EQUAL(text(load_refused("model.missing_tensor", tensor), "tensor"), "blk.1.ffn_up.weight");
  GgufMaker key = tiny_llama({}, 1);
  key.drop_key("llama.block_count");
  EQUAL(text(load_refused("model.missing_key", key), "key"), "llama.block_count");
  GgufMaker shape = tiny_llama({}, 1);
  shape.key_u32("llama.feed_forward_length", 97);
  EQUAL(text(load_refused("model.tensor_shape", shape), "tensor"), "blk.0.ffn_gate.weight");
  GgufMaker type = tiny_llama({}, 1);
  type.key_string("llama.embedding_length", "64");
  EQUAL(text(load_refused("gguf.wrong_type", type), "key"), "llama.embedding_length");
  GgufMaker range = tiny_llama({}, 1);
  range.key_u32("llama.block_count", 0xffffffff);
  EQUAL(text(load_refused("model.bad_value", range), "key"), "llama.block_count");
  GgufMaker zero = tiny_llama({}, 1);
  zero.key_u32("llama.attention.head_count", 0);
  load_refused("model.bad_value", zero);
  GgufMaker experts = tiny_llama({}, 1);
  experts.key_u32("llama.expert_count", 8);
  EQUAL(text(load_refused("model.missing_tensor", experts), "tensor"), "blk.1.ffn_gate_inp.weight");
  GgufMaker dynamic = tiny_llama({}, 1);
  dynamic.key_string("llama.rope.scaling.type", "dynamic");
  load_refused("model.bad_value", dynamic);
  GgufMaker nameless = tiny_llama({}, 1);
  nameless.drop_key("general.architecture");
  load_refused("model.missing_key", nameless);
}

TEST(model_parts_joined_into_one_file) {
  GgufMaker part = tiny_llama({}, 1);
  part.key_raw("split.count", 2, {3, 0});
  part.key_raw("split.no", 2, {0, 0});
  Bytes joined = part.bytes();
  const Bytes second = part.bytes();
  joined.insert(joined.end(), second.begin(), second.end());
  const ScratchFile file(joined);
  Engine engine(reference);
  CHECK(engine.inspect(file.path()).problem.find("joined") != std::string::npos);
  const Error error = THROWS("model.unsupported_format", engine.load({.path = file.path()}));
  EQUAL(number(error, "parts"), 3);
}

TEST(model_vocabulary) {
  const ScratchFile file(tiny_llama({}, 1).bytes());
  const Vocabulary vocabulary = Engine(reference).vocabulary(file.path());
  EQUAL(vocabulary.model, "gpt2");
  EQUAL(vocabulary.pre, "smollm");
  EQUAL(vocabulary.tokens.offsets.size(), 97u);
  const auto token = [&](size_t i) {
    return std::string(vocabulary.tokens.bytes.begin() + vocabulary.tokens.offsets[i],
                       vocabulary.tokens.bytes.begin() + vocabulary.tokens.offsets[i + 1]);
  };
  EQUAL(token(0), "t0");
  EQUAL(token(95), "t95");
  EQUAL(vocabulary.merges.offsets.size(), 3u);
  EQUAL(vocabulary.types.size(), 96u);
  EQUAL(vocabulary.special.at("eos"), 2);
  EQUAL(vocabulary.flags.at("add_bos_token"), false);
  GgufMaker uneven = tiny_llama({}, 1);
  uneven.key_integers("tokenizer.ggml.token_type", {1, 1});
  const ScratchFile second(uneven.bytes());
  THROWS("tokenizer.malformed", Engine(reference).vocabulary(second.path()));
  GgufMaker none = tiny_llama({}, 1);
  none.drop_key("tokenizer.ggml.tokens");
  const ScratchFile third(none.bytes());
  THROWS("tokenizer.malformed", Engine(reference).vocabulary(third.path()));
}

TEST(plan_is_what_a_load_allocates) {
  for (const TinyShape& shape :
       {TinyShape{}, TinyShape{.tied = false, .biases = true, .rope_factors = true}, TinyShape{.matrix_type = 8}}) {
    const ScratchFile file(tiny_llama(shape, 1).bytes());
    for (const char* variant : {"reference", ""}) {
      for (const uint64_t context : {uint64_t{64}, uint64_t{100}, uint64_t{0}}) {
        for (const std::string kv_type : {"f16", "bf16", "q8_0", "f32"}) {
          Engine engine({variant, 2, false});
          const LoadOptions options{.path = file.path(), .context_length = context, .kv_type = kv_type, .threads = 3};
          const MemoryPlan plan = engine.plan(options);
          CHECK(plan.fits);
          EQUAL(plan.total, plan.weights + plan.kv + plan.recurrent + plan.checkpoints + plan.scratch);
          const LoadedModel model = engine.load(options);
          EQUAL(model.plan.total, plan.total);
          for (const MemoryPool& pool : engine.memory()) {
            if (pool.name == "weights") EQUAL(pool.used, plan.weights);
            if (pool.name == "kv") EQUAL(*pool.limit, plan.kv);
            if (pool.name == "scratch") EQUAL(pool.used, plan.scratch);
          }
          const uint64_t pages = ((context == 0 ? 256 : context) + 63) / 64 + 1;
          const uint64_t row = kv_type == "q8_0" ? 16 + 4 : 16 * (kv_type == "f32" ? 4 : 2);  // a scale per position
          EQUAL(plan.kv, pages * 2 * 2 * 2 * 64 * row);  // layers, heads, keys and values
        }
      }
    }
  }
}

#ifdef __linux__
TEST(plan_is_what_the_system_gives) {
  // Counted by the system: no pool is smaller than its plan, and nothing large lies outside the pools.
  const auto mapped = [] {
    std::ifstream file("/proc/self/statm");
    uint64_t pages = 0;
    file >> pages;
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  };
  const ScratchFile file(tiny_llama({.vocabulary = 2000,
                                     .embedding = 256,
                                     .heads = 8,
                                     .kv_heads = 8,
                                     .head_dim = 32,
                                     .inner = 1024,
                                     .layers = 4,
                                     .context = 4096,
                                     .rotated = 32},
                                    1)
                             .bytes());
  for (const std::string kv_type : {"f16", "q8_0", "f32"}) {
    Engine engine({"reference", 1, false});
    const uint64_t before = mapped();
    const MemoryPlan plan = engine.load({.path = file.path(), .kv_type = kv_type}).plan;
    const uint64_t grown = mapped() - before;
    CHECK(grown >= plan.total);
    CHECK(grown < plan.total + (uint64_t{2} << 20));
    CHECK(plan.total > uint64_t{20} << 20);
  }
}
#endif

TEST(plan_keeps_one_copy_of_a_tied_embedding) {
  // The tied head is the same matrix, and the rows that are looked up stay in the file either way.
  const ScratchFile tied(tiny_llama({.matrix_type = 8}, 1).bytes());
  const ScratchFile apart(tiny_llama({.tied = false, .matrix_type = 8}, 1).bytes());
  for (const char* variant : {"reference", ""}) {
    Engine engine({variant, 1, false});
    EQUAL(engine.plan({.path = tied.path()}).weights, engine.plan({.path = apart.path()}).weights);
  }
}

TEST(plan_chooses_and_refuses_contexts) {
  TinyShape shape;
  shape.context = int64_t{1} << 31;
  const ScratchFile file(tiny_llama(shape, 1).bytes());
  Engine engine(reference);
  const MemoryPlan chosen = engine.plan({.path = file.path()});
  CHECK(chosen.fits);
  CHECK(chosen.context_length >= 512 && chosen.context_length < (uint64_t{1} << 31));
  CHECK(chosen.total <= chosen.available);
  const MemoryPlan half = engine.plan({.path = file.path(), .kv_type = "f16"});
  EQUAL(half.kv_type, "f16");
  EQUAL(chosen.kv_type, "q8_0");
  CHECK(chosen.context_length > half.context_length * 5 / 4);
  CHECK(chosen.reason.find("Q8_0, because F16 would hold only") != std::string::npos);
  // Beyond what F16 holds and within what Q8_0 does, which needs 20 bytes for 16 values.
  const uint64_t between = half.context_length * 3 / 2;
  CHECK(!engine.plan({.path = file.path(), .context_length = between, .kv_type = "f16"}).fits);
  const MemoryPlan squeezed = engine.plan({.path = file.path(), .context_length = between});
  CHECK(squeezed.fits);
  EQUAL(squeezed.kv_type, "q8_0");
  EQUAL(squeezed.context_length, between);
  CHECK(squeezed.reason.find("Q8_0, because F16 would need") != std::string::npos);
  const LoadOptions huge{.path = file.path(), .context_length = uint64_t{1} << 31};
  const MemoryPlan refused = engine.plan(huge);
  CHECK(!refused.fits);
  CHECK(refused.total > refused.available);
  const Error error = THROWS("model.too_large", engine.load(huge));
  EQUAL(number(error, "needed"), static_cast<double>(refused.total));
  CHECK(number(error, "available") > 0);
  const ScratchFile small(tiny_llama({}, 1).bytes());
  EQUAL(engine.plan({.path = small.path(), .context_length = uint64_t{1} << 53}).context_length, 256u);
  EQUAL(engine.plan({.path = small.path()}).kv_type, "f16");
  THROWS("request.invalid", engine.plan({.path = small.path(), .kv_type = "q4"}));
  THROWS("request.invalid", engine.plan({.path = small.path(), .threads = -1}));
  THROWS("engine.unavailable", engine.plan({.path = small.path(), .backend = "hip"}));
}

TEST(plan_arithmetic_never_wraps) {
  CHECK(!multiply(uint64_t{1} << 40, uint64_t{1} << 24));
  EQUAL(*multiply(uint64_t{1} << 40, uint64_t{1} << 23), uint64_t{1} << 63);
  CHECK(!plus(UINT64_MAX, 1));
  CHECK(!align_up(UINT64_MAX - 3, 32));
  EQUAL(*align_up(33, 32), 64u);
  backend::cpu::Layout layout;
  EQUAL(layout.add(1), 0u);
  EQUAL(layout.add(64), 64u);
  EQUAL(layout.bytes(), 128u);
  layout.add(UINT64_MAX);
  layout.add(UINT64_MAX);
  CHECK(layout.bytes() > UINT64_MAX / 2);
}

TEST(registry_falls_back_by_rank_and_lists_what_it_tried) {
  const backend::KernelSet all(
      "cpu", {"avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vnni"}, "");
  CHECK(all.variants().back() == "reference");
  for (const kernel::Variant& variant : kernel::variants()) CHECK(variant.rank >= 0);
  const backend::KernelSet plain("cpu", {}, "");
  EQUAL(plain.variants().size(), 1u);
  EQUAL(std::string(plain.entry("rms_norm", "").variant), "reference");
  const Error missing = THROWS("engine.kernel_missing", all.entry("matmul", "q9_9"));
  for (const std::string& variant : all.variants()) {
    CHECK(text(missing, "tried").find("cpu/matmul/q9_9/" + variant) != std::string::npos);
  }
  THROWS("request.invalid", backend::KernelSet("cpu", {}, "avx2"));
  THROWS("request.invalid", backend::KernelSet("cpu", {}, "sse9"));
  EQUAL(backend::KernelSet("cpu", {"avx2", "fma", "f16c"}, "reference").variants().size(), 1u);
}
