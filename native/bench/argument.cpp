#include "native/bench/argument.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace halogen::bench {

const char* const usage =
    "halogen-bench MODEL [options]                     prefill of each prompt, and decode behind it, at its depth\n"
    "  --prefill N[,N...]   tokens of the prompts; 0: decode from nothing (512)\n"
    "  --decode N           tokens decoded behind each (128)\n"
    "  --repeat N           counted runs of each; medians are printed (3)\n"
    "  --json               one JSON object instead of words\n"
    "halogen-bench MODEL --greedy IDS.txt [--decode N] continues token ids (white space between them), prints ids\n"
    "halogen-bench MODEL --serve                       answers the lines of native/bench/serve.h\n"
    "halogen-bench MODEL --inspect [--json]            what the header says; nothing is loaded\n"
    "halogen-bench --help\n"
    "MODEL: a GGUF file (any part of a split one) or a ParoQuant folder. For all that load it:\n"
    "  --threads N          (physical cores that this process may use)\n"
    "  --context N          tokens (what the measurement needs; else what fits)\n"
    "  --kv TYPE            keys and values: f32, f16, bf16, q8_0 or auto (f16)\n"
    "  --variant NAME       the widest kernels allowed: avx512, avx2 or reference (what the processor has)\n"
    "  --pin                each thread on a core of its own\n";

namespace {

constexpr const char* hint = "halogen-bench --help";
constexpr uint64_t most_tokens = 1u << 30;

std::vector<uint64_t> list(const std::string& what, const std::string& words) {
  std::vector<uint64_t> values;
  for (size_t at = 0; at <= words.size();) {
    const size_t end = std::min(words.find(',', at), words.size());
    values.push_back(whole(what, words.substr(at, end - at), 0, most_tokens));
    at = end + 1;
  }
  return values;
}

}  // namespace

uint64_t whole(const std::string& what, const std::string& word, uint64_t least, uint64_t most) {
  uint64_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || stopped != end || value < least || value > most) {
    throw Error(code::request_invalid,
                what + ": \"" + word + "\" is no whole number from " + std::to_string(least) + " to " +
                    std::to_string(most) + ".",
                hint, {{"least", least}, {"most", most}});
  }
  return value;
}

Arguments parse(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= count) throw Error(code::request_invalid, word + " needs a value.", hint);
      return words[++i];
    };
    if (word == "--help" || word == "-h") {
      arguments.what = Arguments::What::help;
      return arguments;
    } else if (word == "--prefill") {
      arguments.prefill = list(word, value());
    } else if (word == "--decode") {
      arguments.decode = whole(word, value(), 1, most_tokens);
    } else if (word == "--repeat") {
      arguments.repeat = whole(word, value(), 1, 1000);
    } else if (word == "--threads") {
      arguments.threads = static_cast<int>(whole(word, value(), 1, 1024));
    } else if (word == "--context") {
      arguments.context = whole(word, value(), 1, most_tokens);
    } else if (word == "--variant") {
      arguments.variant = value();
    } else if (word == "--kv") {
      arguments.kv_type = value();
    } else if (word == "--greedy") {
      arguments.what = Arguments::What::greedy;
      arguments.tokens_file = value();
    } else if (word == "--serve") {
      arguments.what = Arguments::What::serve;
    } else if (word == "--inspect") {
      arguments.what = Arguments::What::inspect;
    } else if (word == "--json") {
      arguments.json = true;
    } else if (word == "--pin") {
      arguments.pin = true;
    } else if (arguments.model.empty() && !word.starts_with("--")) {
      arguments.model = word;
    } else {
      throw Error(code::request_invalid, "Unknown argument " + word + ".", hint);
    }
  }
  if (arguments.model.empty()) throw Error(code::request_invalid, "A model is needed.", hint);
  return arguments;
}

}  // namespace halogen::bench
