// halogen-llama-peer and halogen-ik-peer: llama.cpp and ik_llama.cpp as their own programs would run them, without a
// binding between. They speak the lines of `halogen-bench --serve` (native/bench/serve.h), so that all engines are
// asked and timed the same way.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include "test/peer/adapter.h"

namespace {

using Clock = std::chrono::steady_clock;
using Ids = std::vector<llama_token>;

constexpr const char* usage =
    "halogen-llama-peer MODEL.gguf [--threads N] [--context N] [--flash on|off] [--repack on|off] [--kv "
    "f16|f32]   then lines on standard input:\n"
    "  time IDS.txt STEPS          prefill to the first token, then STEPS more, greedily\n"
    "  path IDS.txt STEPS          the greedy tokens with the second best of each step and how far it lies behind "
    "(nats)\n"
    "  score IDS.txt FROM OUT      float32 log probabilities after each token from FROM on, row by row\n"
    "halogen-llama-peer MODEL.gguf --dequantise OUT.gguf     the same file with every weight written out as F32\n";

double since(Clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

Ids read_ids(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Ids ids;
  for (llama_token id; file >> id;) ids.push_back(id);
  if (ids.empty()) throw std::runtime_error(path + " holds no token ids");
  return ids;
}

bool on(const std::string& word, const std::string& value, const std::string& yes, const std::string& no) {
  if (value != yes && value != no) throw std::runtime_error(word + " is " + yes + " or " + no + ", not " + value);
  return value == yes;
}

peer::Settings parse(int count, char** words) {
  peer::Settings settings;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= count) throw std::runtime_error(word + " needs a value");
      return words[++i];
    };
    if (word == "--threads")
      settings.threads = std::stoi(value());
    else if (word == "--context")
      settings.context = static_cast<uint32_t>(std::stoul(value()));
    else if (word == "--flash")
      settings.flash = on(word, value(), "on", "off");
    else if (word == "--repack")
      settings.repack = on(word, value(), "on", "off");
    else if (word == "--kv")
      settings.exact = on(word, value(), "f32", "f16");
    else if (word == "--dequantise")
      settings.dequantise = value();
    else if (settings.model.empty() && !word.starts_with("--"))
      settings.model = word;
    else
      throw std::runtime_error("unknown argument " + word);
  }
  if (settings.model.empty()) throw std::runtime_error("a model is needed");
  return settings;
}

class Peer {
 public:
  Peer(const peer::Settings& settings, FILE* answers) : answers_(answers), exact_(settings.exact) {
    const Clock::time_point begun = Clock::now();
    llama_backend_init();
    model_.reset(peer::load(settings));
    if (!model_) throw std::runtime_error(peer::version() + " does not load " + settings.model);
    context_.reset(peer::context(model_.get(), settings));
    if (!context_)
      throw std::runtime_error(peer::version() + " makes no context of " + std::to_string(settings.context));
    batch_size_ = static_cast<int>(llama_n_batch(context_.get()));
    batch_ = llama_batch_init(batch_size_, 0, 1);
    vocabulary_ = llama_vocab_n_tokens(llama_model_get_vocab(model_.get()));
    load_milliseconds_ = since(begun);
  }
  ~Peer() { llama_batch_free(batch_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void describe() const {
    std::fprintf(answers_,
                 "{\"ready\":true,\"version\":\"%s\",\"kernels\":\"%s\",\"kv\":\"%s\",\"loadMilliseconds\":%.2f,"
                 "\"vocabulary\":%d,\"trainedContext\":%d}\n",
                 peer::version().c_str(), llama_print_system_info(), exact_ ? "f32" : "f16", load_milliseconds_,
                 vocabulary_, peer::trained_context(model_.get()));
  }

  void time(const Ids& prompt, int steps) {
    forget();
    const Clock::time_point begun = Clock::now();
    feed(prompt, 0, prompt.size() - 1);
    Ids ids{best(row(-1))};
    const double prefill = since(begun);
    const Clock::time_point first = Clock::now();
    while (static_cast<int>(ids.size()) <= steps) {
      feed({ids.back()}, prompt.size() + ids.size() - 1, 0);
      ids.push_back(best(row(-1)));
    }
    const double decode = since(first);
    std::fprintf(answers_, "{\"prefillMilliseconds\":%.3f,\"decodeMilliseconds\":%.3f,\"ids\":", prefill, decode);
    print(ids);
    std::fprintf(answers_, "}\n");
  }

  void path(const Ids& prompt, int steps) {
    forget();
    feed(prompt, 0, prompt.size() - 1);
    Ids ids, seconds;
    std::vector<double> gaps;
    for (int step = 0; step < steps; ++step) {
      const float* logits = row(-1);
      const llama_token first = best(logits);
      llama_token second = first == 0 ? 1 : 0;
      for (llama_token id = 0; id < vocabulary_; ++id)
        if (id != first && logits[id] > logits[second]) second = id;
      ids.push_back(first);
      seconds.push_back(second);
      gaps.push_back(logits[first] - logits[second]);
      feed({first}, prompt.size() + static_cast<size_t>(step), 0);
    }
    std::fprintf(answers_, "{\"ids\":");
    print(ids);
    std::fprintf(answers_, ",\"seconds\":");
    print(seconds);
    std::fprintf(answers_, ",\"gaps\":[");
    for (size_t i = 0; i < gaps.size(); ++i) std::fprintf(answers_, i == 0 ? "%.4f" : ",%.4f", gaps[i]);
    std::fprintf(answers_, "]}\n");
  }

  void score(const Ids& tokens, size_t from, const std::string& out) {
    if (from >= tokens.size()) throw std::runtime_error("nothing to score");
    std::ofstream file(out, std::ios::binary);
    forget();
    if (from > 0) feed(Ids(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(from)), 0, from);
    std::vector<float> logs(static_cast<size_t>(vocabulary_));
    // In pieces: the logits of a large vocabulary take a megabyte a row.
    constexpr size_t piece = 64;
    for (size_t at = from; at < tokens.size(); at += piece) {
      const size_t end = std::min(tokens.size(), at + piece);
      feed(Ids(tokens.begin() + static_cast<std::ptrdiff_t>(at), tokens.begin() + static_cast<std::ptrdiff_t>(end)), at,
           0);
      for (size_t i = 0; i < end - at; ++i) {
        const float* logits = row(static_cast<int>(i));
        const double highest = logits[best(logits)];
        double sum = 0;
        for (int id = 0; id < vocabulary_; ++id) sum += std::exp(logits[id] - highest);
        for (int id = 0; id < vocabulary_; ++id)
          logs[static_cast<size_t>(id)] = static_cast<float>(logits[id] - highest - std::log(sum));
        file.write(reinterpret_cast<const char*>(logs.data()),
                   static_cast<std::streamsize>(logs.size() * sizeof(float)));
      }
    }
    if (!file.flush()) throw std::runtime_error("cannot write " + out);
    std::fprintf(answers_, "{\"rows\":%zu,\"width\":%d}\n", tokens.size() - from, vocabulary_);
  }

 private:
  void forget() { peer::forget(context_.get()); }

  // Runs tokens at positions from `position` on; logits are kept of those at index `outputs_from` of `tokens` and
  // after.
  void feed(const Ids& tokens, size_t position, size_t outputs_from) {
    for (size_t at = 0; at < tokens.size(); at += static_cast<size_t>(batch_size_)) {
      const size_t count = std::min(tokens.size() - at, static_cast<size_t>(batch_size_));
      batch_.n_tokens = static_cast<int32_t>(count);
      for (size_t i = 0; i < count; ++i) {
        batch_.token[i] = tokens[at + i];
        batch_.pos[i] = static_cast<llama_pos>(position + at + i);
        batch_.n_seq_id[i] = 1;
        batch_.seq_id[i][0] = 0;
        batch_.logits[i] = at + i >= outputs_from;
      }
      const int code = llama_decode(context_.get(), batch_);
      if (code != 0) throw std::runtime_error("llama_decode returned " + std::to_string(code));
    }
  }

  float* row(int index) {
    float* logits = llama_get_logits_ith(context_.get(), index);
    if (logits == nullptr) throw std::runtime_error("the engine gave no logits");
    return logits;
  }

  llama_token best(const float* logits) const {
    return static_cast<llama_token>(std::max_element(logits, logits + vocabulary_) - logits);
  }

  void print(const Ids& ids) const {
    for (size_t i = 0; i < ids.size(); ++i) std::fprintf(answers_, i == 0 ? "[%d" : ",%d", ids[i]);
    std::fprintf(answers_, "]");
  }

  struct Free {
    void operator()(llama_model* model) const { peer::unload(model); }
    void operator()(llama_context* context) const { llama_free(context); }
  };
  FILE* answers_;
  bool exact_;
  std::unique_ptr<llama_model, Free> model_;
  std::unique_ptr<llama_context, Free> context_;
  llama_batch batch_{};
  int batch_size_ = 0;
  int vocabulary_ = 0;
  double load_milliseconds_ = 0;
};

// Some of what the engines say goes to standard output, where only answers belong.
FILE* take_output() {
  FILE* const answers = fdopen(dup(STDOUT_FILENO), "w");
  if (answers == nullptr || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    throw std::runtime_error("standard output cannot be had");
  return answers;
}

void serve(const peer::Settings& settings) {
  FILE* const answers = take_output();
  Peer engine(settings, answers);
  engine.describe();
  std::fflush(answers);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what, file;
    size_t number = 0;
    if (!(words >> what >> file >> number)) throw std::runtime_error("not understood: " + line);
    if (what == "time")
      engine.time(read_ids(file), static_cast<int>(number));
    else if (what == "path")
      engine.path(read_ids(file), static_cast<int>(number));
    else if (std::string out; what == "score" && words >> out)
      engine.score(read_ids(file), number, out);
    else
      throw std::runtime_error("not understood: " + line);
    std::fflush(answers);
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    llama_log_set(
        [](ggml_log_level level, const char* text, void*) {
          if (level >= GGML_LOG_LEVEL_ERROR && level != GGML_LOG_LEVEL_CONT) std::fputs(text, stderr);
        },
        nullptr);
    const peer::Settings settings = parse(count, words);
    if (settings.dequantise.empty())
      serve(settings);
    else
      peer::dequantise(settings.model, settings.dequantise);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), usage);
    return 1;
  }
}
