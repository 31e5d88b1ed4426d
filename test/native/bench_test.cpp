// The parts of halogen-bench: its command line, what it counts as a measurement, and its report.
#include "native/bench/argument.h"
#include "native/bench/measure.h"
#include "native/bench/report.h"
#include "test/native/check.h"
#include "test/native/loaded.h"

using namespace halogen;
using namespace halogen::test;

namespace {

bench::Arguments parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "halogen-bench");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  return bench::parse(static_cast<int>(pointers.size()), pointers.data());
}

std::vector<int32_t> beginning_with(int32_t first, size_t count) {
  std::vector<int32_t> tokens = prompt(count);
  tokens[0] = first;
  return tokens;
}

}  // namespace

TEST(bench_words_are_whole_numbers_within_bounds) {
  const bench::Arguments arguments = parsed({"--prefill", "0,512,16384", "model", "--threads", "16", "--decode", "1"});
  EQUAL(arguments.model, "model");
  CHECK((arguments.prefill == std::vector<uint64_t>{0, 512, 16384}));
  EQUAL(arguments.threads, 16);
  EQUAL(arguments.decode, 1u);
  CHECK(parsed({"--help"}).what == bench::Arguments::What::help);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {},
           {"model", "other"},
           {"model", "--decode"},
           {"model", "--decode", "0"},
           {"model", "--decode", "12x"},
           {"model", "--decode", "-1"},
           {"model", "--decode", "99999999999999999999999"},
           {"model", "--prefill", ""},
           {"model", "--prefill", "1,,2"},
           {"model", "--threads", "0"},
           {"model", "--colour", "red"},
       }) {
    THROWS(code::request_invalid, parsed(words));
  }
}

TEST(bench_measures_what_was_asked) {
  Loaded loaded({}, 128);
  int32_t first = 0;
  // One token, two, and more than a reader can take one by one from so small a model.
  for (const uint64_t steps : {0u, 1u, 2u, 60u}) {
    const std::vector<int32_t> tokens = beginning_with(first++, 20);
    const bench::Measured made = bench::measure(loaded.engine, loaded.model.handle, tokens, steps);
    EQUAL(made.ids.size(), steps + 1);
    CHECK(made.prefill_milliseconds > 0);
    CHECK(steps == 0 ? made.decode_milliseconds == 0 : made.decode_milliseconds > 0);
  }
}

TEST(bench_refuses_what_is_no_measurement) {
  Loaded loaded({}, 64);
  const std::vector<int32_t> tokens = beginning_with(1, 40);
  const Error cut = THROWS(code::request_invalid, bench::measure(loaded.engine, loaded.model.handle, tokens, 60));
  EQUAL(number(cut, "wanted"), 61);
  EQUAL(number(cut, "made"), 24);
  const Error again = THROWS(code::request_invalid, bench::measure(loaded.engine, loaded.model.handle, tokens, 4));
  CHECK(number(again, "reused") > 0);
  THROWS(code::context_exceeded, bench::measure(loaded.engine, loaded.model.handle, prompt(100), 4));
}

TEST(bench_reads_token_ids) {
  const std::string text = "1 2\n3";
  const ScratchFile good(Bytes(text.begin(), text.end()));
  CHECK((bench::read_ids(good.path()) == std::vector<int32_t>{1, 2, 3}));
  for (const std::string bad : {"", "1 two 3", "-1", "4294967296"}) {
    const ScratchFile file(Bytes(bad.begin(), bad.end()));
    THROWS(code::request_invalid, bench::read_ids(file.path()));
  }
  THROWS(code::file_unreadable, bench::read_ids(good.path() + ".none"));
}

TEST(bench_report_has_what_was_planned_and_allocated) {
  Loaded loaded({}, 64);
  bench::Report report{"1",
                       "a \"fast\"\nprocessor",
                       "reference",
                       2,
                       loaded.engine.inspect(loaded.file.path()),
                       loaded.model,
                       loaded.engine.memory(),
                       {{0, 4, {}, {3, 1}}, {8, 4, {5, 9, 7}, {2}}}};
  uint64_t total = 0;
  for (const bench::Pool& pool : bench::pools(report)) {
    EQUAL(pool.planned, pool.allocated);
    total += pool.allocated;
  }
  EQUAL(total, loaded.model.plan.total);
  const std::string json = bench::as_json(report);
  CHECK(json.find(R"("processor":"a \"fast\"\u000aprocessor")") != std::string::npos);
  CHECK(json.find(R"("prefillPerSecond":null,"decodePerSecond":{"median":2.000,)") != std::string::npos);
  CHECK(json.find(R"("prefillPerSecond":{"median":7.000,"least":5.000,"most":9.000,"values":[5.000,9.000,7.000]})") !=
        std::string::npos);
  CHECK(bench::in_words(report).find("DIFFERENT") == std::string::npos);
  report.loaded.plan.kv += 1;
  CHECK(bench::in_words(report).find("DIFFERENT") != std::string::npos);
}
