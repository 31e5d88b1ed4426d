// Models with layers that see a window only: their pages, at the seam and through the engine.
#include <algorithm>
#include <array>
#include <cmath>
#include <future>

#include "native/backend/backend.h"
#include "native/engine/model/architecture.h"
#include "test/native/check.h"
#include "test/native/loaded.h"

using namespace halogen;
using namespace halogen::test;

namespace {

constexpr int64_t window = 20, context = 4096;
// Of 64 positions each: 531 for what a forward of 512 sees and writes, 20 of one more sequence, and an eighth of the 65
// of the context for windows that are kept.
constexpr uint32_t running = 10 + 2, kept = 8, table = 65;

TinyShape sliding(std::vector<bool> slides = {true, false, true}) {
  return {.layers = static_cast<int64_t>(slides.size()),
          .context = context,
          .tied = false,
          .window = window,
          .slides = std::move(slides)};
}

struct Sliding : Loaded {
  explicit Sliding(const TinyShape& shape = sliding(), const std::string& variant = "", int threads = 2)
      : Loaded(shape, 0, threads, variant) {}
  std::shared_ptr<Generation> ask(const std::vector<int32_t>& tokens, uint64_t most) {
    return engine.generate(request(tokens, most));
  }
};

std::vector<int32_t> joined(std::vector<int32_t> one, const std::vector<int32_t>& two) {
  one.insert(one.end(), two.begin(), two.end());
  return one;
}

std::vector<int32_t> afresh(const std::vector<int32_t>& tokens, uint64_t most, const TinyShape& shape = sliding()) {
  return read_all(*Sliding(shape).ask(tokens, most));
}

// A loaded model behind the seam, whose token 95 makes keys and values that are no numbers.
struct Seam {
  Seam(const std::string& variant, const std::string& kv_type, int threads, int64_t seen = window)
      : sees(seen),
        file(poisonous(seen).bytes()),
        gguf(file.path()),
        backends(backend::backends({variant, threads, false})) {
    const model::Description description = model::describe(gguf);
    model = backends[0]->load(gguf, description, {context, kv_type, threads}, {}, std::atomic<bool>(false));
    for (size_t i = 0; i < 2; ++i) {
      const backend::PageGroup& each = model->page_groups()[i];
      (each.window > 0 ? slides : whole) = i;
    }
  }

  static GgufMaker poisonous(int64_t seen) {
    TinyShape shape = sliding();
    shape.window = seen;
    GgufMaker maker = tiny_llama(shape, 7);
    for (GgufMaker::Tensor& tensor : maker.tensors) {
      if (tensor.name != "token_embd.weight") continue;
      const float none = NAN;
      for (size_t i = 0; i < 64; ++i) std::memcpy(&tensor.data[(95 * 64 + i) * 4], &none, 4);
    }
    return maker;
  }

  void forward(std::span<const int32_t> tokens, int64_t position, const std::array<std::vector<uint32_t>, 2>& pages,
               bool logits) {
    const std::array<std::span<const uint32_t>, 2> tables{pages[0], pages[1]};
    const backend::Segment segment{tokens, position, tables, static_cast<int64_t>(tokens.size()) - (logits ? 1 : 0)};
    CHECK(model->forward({&segment, 1}, std::atomic<bool>(false)));
  }

  // The logits after each step, the last of which is repeated. Where pages go, what they held becomes no number.
  std::vector<float> run(const std::vector<int32_t>& tokens, const std::vector<size_t>& steps, bool letting_go) {
    std::array<std::vector<uint32_t>, 2> pages;
    const auto last = [&](size_t group) { return model->page_groups()[group].pages - 1; };
    const std::vector<int32_t> poison(64, 95);
    pages[0] = {last(0)};
    pages[1] = {last(1)};
    forward(poison, 0, pages, false);
    for (auto& each : pages) each.clear();
    std::vector<float> all;
    for (size_t done = 0, count = 0, i = 0; done < tokens.size(); done += count, ++i) {
      count = std::min(steps[std::min(i, steps.size() - 1)], tokens.size() - done);
      for (auto& each : pages) {
        while (each.size() * 64 < done + count) each.push_back(static_cast<uint32_t>(each.size()));
      }
      const int64_t seen = static_cast<int64_t>(done) - sees + 1;
      for (size_t page = 0; letting_go && static_cast<int64_t>(page + 1) * 64 <= seen; ++page) {
        if (pages[slides][page] == backend::no_page) continue;
        model->copy_page(slides, last(slides), pages[slides][page]);
        pages[slides][page] = backend::no_page;
      }
      forward(std::span(tokens).subspan(done, count), static_cast<int64_t>(done), pages, true);
      all.insert(all.end(), model->logits(0), model->logits(0) + model->vocabulary());
    }
    return all;
  }

  const int64_t sees;
  ScratchFile file;
  gguf::File gguf;
  std::vector<std::unique_ptr<backend::Backend>> backends;
  std::unique_ptr<backend::Model> model;
  size_t slides = 0, whole = 0;
};

std::vector<int32_t> harmless(size_t count, uint64_t seed = 1) {
  std::vector<int32_t> tokens = prompt(count, seed);
  for (int32_t& token : tokens) token = std::min(token, 94);
  return tokens;
}

}  // namespace

TEST(window_pages_behind_the_window_are_never_read) {
  struct Case {
    const char* variant;
    const char* kv_type;
    int threads;
    int64_t window;
    size_t count;
    std::vector<size_t> steps;
  };
  std::vector<Case> cases{{"reference", "f32", 1, 20, 200, {1}}, {"reference", "q8_0", 2, 20, 700, {500, 9}}};
  for (const char* kv_type : {"f32", "f16", "q8_0"}) {
    cases.push_back({"", kv_type, 2, 20, 200, {1}});
    cases.push_back({"", kv_type, 1, 20, 300, {7}});
    cases.push_back({"", kv_type, 1, 20, 1100, {500}});
    cases.push_back({"", kv_type, 3, 400, 660, {500, 140, 1}});  // one token's keys are shared out in parts
  }
  for (const Case& each : cases) {
    Seam seam(each.variant, each.kv_type, each.threads, each.window);
    const std::vector<int32_t> tokens = harmless(each.count);
    const std::vector<float> kept_all = seam.run(tokens, each.steps, false);
    const std::vector<float> let_go = seam.run(tokens, each.steps, true);
    CHECK(std::ranges::all_of(let_go, [](float logit) { return std::isfinite(logit); }));
    if (let_go != kept_all) fail("other logits: ", each.variant, ", ", each.kv_type, ", steps of ", each.steps[0]);
  }
}

TEST(window_poison_is_seen_where_a_page_is_read) {
  // The control of the test above: a page that the window still sees.
  Seam seam("", "f16", 2);
  const std::vector<int32_t> tokens = harmless(100);
  std::array<std::vector<uint32_t>, 2> pages{{{0, 1}, {0, 1}}};
  seam.forward(std::vector<int32_t>(64, 95), 0, {{{5}, {5}}}, false);
  seam.forward(std::span(tokens).first(70), 0, pages, true);
  CHECK(std::isfinite(seam.model->logits(0)[0]));
  seam.model->copy_page(seam.slides, 5, 0);
  seam.forward(std::span(tokens).subspan(70, 1), 70, pages, true);
  CHECK(!std::isfinite(seam.model->logits(0)[0]));
}

TEST(window_a_page_that_is_needed_and_gone_is_an_error) {
  Seam seam("", "f16", 2);
  const std::vector<int32_t> tokens = harmless(200);
  std::array<std::vector<uint32_t>, 2> pages{{{0, 1, 2}, {0, 1, 2}}};
  seam.forward(std::span(tokens).first(150), 0, pages, false);
  pages[seam.slides][0] = backend::no_page;
  seam.forward(std::span(tokens).subspan(150, 1), 150, pages, true);
  pages[seam.slides][1] = backend::no_page;  // position 147 sees 128 and on, 146 sees 127
  seam.forward(std::span(tokens).subspan(147, 1), 147, pages, true);
  const Error error = THROWS("internal", seam.forward(std::span(tokens).subspan(146, 1), 146, pages, true));
  EQUAL(number(error, "page"), 1);
  pages[seam.slides][1] = 1;
  pages[seam.whole][0] = backend::no_page;
  THROWS("internal", seam.forward(std::span(tokens).subspan(150, 1), 150, pages, true));
  pages[seam.whole].resize(2);
  THROWS("internal", seam.forward(std::span(tokens).subspan(150, 1), 150, pages, true));
}

TEST(window_plan_is_exact) {
  const auto check = [](const TinyShape& shape, uint64_t whole_layers, uint64_t sliding_layers) {
    const ScratchFile file(tiny_llama(shape, 7).bytes());
    Engine engine({"reference", 1, false});
    const MemoryPlan plan = engine.load({.path = file.path(), .kv_type = "f16"}).plan;
    const uint64_t page = 64 * 2 * 2 * 16 * 2;  // keys and values of two heads of 16 in halves
    EQUAL(plan.kv, page * (whole_layers * table + sliding_layers * running));
    EQUAL(plan.checkpoints, page * sliding_layers * kept);
    for (const MemoryPool& pool : engine.memory()) {
      if (pool.name == "kv") EQUAL(*pool.limit, plan.kv);
      if (pool.name == "checkpoints") EQUAL(*pool.limit, plan.checkpoints);
    }
  };
  check(sliding(), 1, 2);
  check(sliding({true, true}), 0, 2);
  check(sliding({false, false}), 2, 0);
}

TEST(window_as_long_as_the_context_costs_what_one_group_did) {
  for (const uint64_t tokens : {uint64_t{16}, uint64_t{20}, uint64_t{512}, uint64_t{800}}) {
    Loaded loaded(sliding(), tokens, 1);
    EQUAL(loaded.model.plan.kv, 64u * 2 * 2 * 16 * 2 * 3 * ((tokens + 63) / 64 + 1));
    EQUAL(loaded.model.plan.checkpoints, 0u);
  }
}

TEST(window_same_scores_whatever_was_let_go) {
  // Twenty pages hold 1,280 positions: the first text lets nothing go, after the others its pages lie anywhere and go.
  const std::vector<int32_t> text = prompt(1200, 3);
  for (const char* variant : {"reference", ""}) {
    const TinyShape shape = sliding({true, false});
    const std::vector<float> straight = [&] {
      Sliding loaded(shape, variant);
      return loaded.engine.score(loaded.model.handle, text, 1000);
    }();
    Sliding loaded(shape, variant);
    read_all(*loaded.ask(prompt(2500, 4), 40));
    read_all(*loaded.ask(prompt(700, 5), 3));
    CHECK(loaded.engine.score(loaded.model.handle, text, 1000) == straight);
    // Each of them goes on from where the first left off, or from nothing.
    CHECK(loaded.engine.score(loaded.model.handle, text, 1000) == straight);
  }
}

TEST(window_a_conversation_goes_on_and_back) {
  Sliding loaded;
  const std::vector<int32_t> first = prompt(1500);
  const auto one = loaded.ask(first, 700);
  const std::vector<int32_t> reply = read_all(*one);
  EQUAL(one->outcome().reused, 0u);
  EQUAL(reply.size(), 700u);

  const auto again = loaded.ask(first, 700);  // regenerate: 700 tokens back, where the window was kept
  CHECK(read_all(*again) == reply);
  EQUAL(again->outcome().reused, 1499u);
  EQUAL(again->outcome().recomputed, 1u);

  const std::vector<int32_t> second = joined(joined(first, reply), prompt(600, 2));
  const auto next = loaded.ask(second, 300);
  const std::vector<int32_t> answer = read_all(*next);
  EQUAL(next->outcome().reused, 2199u);
  EQUAL(next->outcome().recomputed, 601u);
  CHECK(answer == afresh(second, 300));

  // The last question is asked otherwise; then the one before.
  const std::vector<int32_t> edited = joined(joined(first, reply), prompt(500, 9));
  const auto edit = loaded.ask(edited, 50);
  CHECK(read_all(*edit) == afresh(edited, 50));
  EQUAL(edit->outcome().reused, 2200u);  // the last token of the reply was computed by then
  std::vector<int32_t> rewritten(first.begin(), first.end() - 6);
  rewritten = joined(rewritten, prompt(30, 8));
  const auto back = loaded.ask(rewritten, 30);
  CHECK(read_all(*back) == afresh(rewritten, 30));
  EQUAL(back->outcome().reused, 1494u);

  // Where no window was kept there is nothing to go on from, and that is what is said.
  std::vector<int32_t> other(first.begin(), first.begin() + 700);
  other = joined(other, {7});
  const auto fresh = loaded.ask(other, 30);
  CHECK(read_all(*fresh) == afresh(other, 30));
  EQUAL(fresh->outcome().reused, 0u);
  EQUAL(fresh->outcome().recomputed, 701u);
}

TEST(window_alone_needs_no_other_pages) {
  const TinyShape shape = sliding({true, true});
  Sliding loaded(shape);
  const std::vector<int32_t> first = prompt(2000);
  const std::vector<int32_t> reply = read_all(*loaded.ask(first, 400));
  CHECK(reply == afresh(first, 400, shape));
  const auto again = loaded.ask(first, 400);
  CHECK(read_all(*again) == reply);
  EQUAL(again->outcome().reused, 1999u);
}

TEST(window_a_stopped_prefill_leaves_no_trace) {
  Sliding loaded;
  const std::vector<int32_t> first = prompt(900);
  const std::vector<int32_t> reply = read_all(*loaded.ask(first, 10));
  const std::vector<int32_t> longer = joined(joined(first, reply), prompt(2500, 2));
  for (int round = 0; round < 3; ++round) {
    std::promise<void> begun;
    std::atomic<bool> once{false};
    GenerateCallbacks callbacks;
    callbacks.on_progress = [&](const EngineProgress&) {
      if (!once.exchange(true)) begun.set_value();
    };
    const auto stopped = loaded.engine.generate(loaded.request(longer, 4), callbacks);
    begun.get_future().wait();
    stopped->cancel();
    read_all(*stopped);
    EQUAL(stopped->outcome().cause, "cancelled");
    const auto again = loaded.ask(first, 10);
    CHECK(read_all(*again) == reply);
    EQUAL(again->outcome().reused, 899u);
  }
  CHECK(read_all(*loaded.ask(longer, 10)) == afresh(longer, 10));
}

TEST(window_more_at_once_than_there_is_room_for) {
  // Nine sequences of several windows and chunks: those that find no pages wait, and give up theirs to older ones.
  Sliding loaded;
  const auto text = [](uint64_t i) { return prompt(60 + 90 * i, 20 + i); };
  std::vector<std::shared_ptr<Generation>> requests;
  for (uint64_t i = 0; i < 9; ++i) requests.push_back(loaded.ask(text(i), 90));
  std::vector<std::future<std::vector<int32_t>>> readers;
  for (const auto& each : requests)
    readers.push_back(std::async(std::launch::async, [&each] { return read_all(*each); }));
  for (uint64_t i = 0; i < 9; ++i) CHECK(readers[i].get() == afresh(text(i), 90));
  for (const MemoryPool& pool : loaded.engine.memory()) {
    if (pool.name == "kv" || pool.name == "checkpoints") CHECK(pool.used <= *pool.limit && pool.used > 0);
  }
}
