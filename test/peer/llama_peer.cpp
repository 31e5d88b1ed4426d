// halogen-llama-peer: llama.cpp as one of its own programs would run it, without a binding between. It speaks the lines
// of `halogen-bench --serve` (native/bench/serve.h), so that both engines are asked and timed the same way.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gguf.h>
#include <llama.h>

namespace {

using Clock = std::chrono::steady_clock;
using Ids = std::vector<llama_token>;

constexpr const char* usage =
    "halogen-llama-peer MODEL.gguf [--threads N] [--context N] [--flash on|off] [--kv f16|f32]   then lines on "
    "standard input:\n"
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

struct Arguments {
  std::string model, dequantise;
  int threads = 1;
  uint32_t context = 0;
  bool flash = true, exact = false;
};

Arguments parse(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= count) throw std::runtime_error(word + " needs a value");
      return words[++i];
    };
    if (word == "--threads")
      arguments.threads = std::stoi(value());
    else if (word == "--context")
      arguments.context = static_cast<uint32_t>(std::stoul(value()));
    else if (word == "--flash")
      arguments.flash = value() == "on";
    else if (word == "--kv")
      arguments.exact = value() == "f32";
    else if (word == "--dequantise")
      arguments.dequantise = value();
    else if (arguments.model.empty() && !word.starts_with("--"))
      arguments.model = word;
    else
      throw std::runtime_error("unknown argument " + word);
  }
  if (arguments.model.empty()) throw std::runtime_error("a model is needed");
  return arguments;
}

class Peer {
 public:
  explicit Peer(const Arguments& arguments) {
    const Clock::time_point begun = Clock::now();
    llama_backend_init();
    llama_model_params model_params = llama_model_default_params();
    model_params.n_gpu_layers = 0;
    model_.reset(llama_model_load_from_file(arguments.model.c_str(), model_params));
    if (!model_) throw std::runtime_error("llama.cpp does not load " + arguments.model);
    llama_context_params params = llama_context_default_params();
    params.n_ctx = arguments.context;
    params.n_threads = params.n_threads_batch = arguments.threads;
    params.flash_attn_type = arguments.flash ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
    if (arguments.exact) params.type_k = params.type_v = GGML_TYPE_F32;
    context_.reset(llama_init_from_model(model_.get(), params));
    if (!context_) throw std::runtime_error("llama.cpp makes no context of " + std::to_string(arguments.context));
    batch_size_ = static_cast<int>(llama_n_batch(context_.get()));
    batch_ = llama_batch_init(batch_size_, 0, 1);
    vocabulary_ = llama_vocab_n_tokens(llama_model_get_vocab(model_.get()));
    load_milliseconds_ = since(begun);
  }
  ~Peer() { llama_batch_free(batch_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void describe() const {
    std::printf(
        "{\"ready\":true,\"version\":\"llama.cpp %s\",\"kernels\":\"%s\",\"loadMilliseconds\":%.2f,\"vocabulary\":%d,"
        "\"trainedContext\":%d}\n",
        llama_version(), llama_print_system_info(), load_milliseconds_, vocabulary_,
        llama_model_n_ctx_train(model_.get()));
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
    std::printf("{\"prefillMilliseconds\":%.3f,\"decodeMilliseconds\":%.3f,\"ids\":", prefill, decode);
    print(ids);
    std::printf("}\n");
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
    std::printf("{\"ids\":");
    print(ids);
    std::printf(",\"seconds\":");
    print(seconds);
    std::printf(",\"gaps\":[");
    for (size_t i = 0; i < gaps.size(); ++i) std::printf(i == 0 ? "%.4f" : ",%.4f", gaps[i]);
    std::printf("]}\n");
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
    std::printf("{\"rows\":%zu,\"width\":%d}\n", tokens.size() - from, vocabulary_);
  }

 private:
  void forget() { llama_memory_clear(llama_get_memory(context_.get()), true); }

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
    if (logits == nullptr) throw std::runtime_error("llama.cpp gave no logits");
    return logits;
  }

  llama_token best(const float* logits) const {
    return static_cast<llama_token>(std::max_element(logits, logits + vocabulary_) - logits);
  }

  static void print(const Ids& ids) {
    for (size_t i = 0; i < ids.size(); ++i) std::printf(i == 0 ? "[%d" : ",%d", ids[i]);
    std::printf("]");
  }

  struct Free {
    void operator()(llama_model* model) const { llama_model_free(model); }
    void operator()(llama_context* context) const { llama_free(context); }
  };
  std::unique_ptr<llama_model, Free> model_;
  std::unique_ptr<llama_context, Free> context_;
  llama_batch batch_{};
  int batch_size_ = 0;
  int vocabulary_ = 0;
  double load_milliseconds_ = 0;
};

// Every weight through llama.cpp's own dequantiser; keys and names stay.
void dequantise(const std::string& from, const std::string& to) {
  ggml_context* tensors = nullptr;
  std::unique_ptr<gguf_context, decltype(&gguf_free)> in(gguf_init_from_file(from.c_str(), {true, &tensors}),
                                                         gguf_free);
  if (!in) throw std::runtime_error("llama.cpp does not read " + from);
  const int64_t count = gguf_get_n_tensors(in.get());
  std::unique_ptr<gguf_context, decltype(&gguf_free)> out(gguf_init_empty(), gguf_free);
  gguf_set_kv(out.get(), in.get());
  const ggml_init_params params{ggml_tensor_overhead() * static_cast<size_t>(count + 1), nullptr, true};
  std::unique_ptr<ggml_context, decltype(&ggml_free)> plain(ggml_init(params), ggml_free);
  std::vector<const ggml_tensor*> sources;
  for (int64_t i = 0; i < count; ++i) {
    const ggml_tensor* source = ggml_get_tensor(tensors, gguf_get_tensor_name(in.get(), i));
    ggml_tensor* tensor = ggml_new_tensor(plain.get(), GGML_TYPE_F32, ggml_n_dims(source), source->ne);
    ggml_set_name(tensor, source->name);
    gguf_add_tensor(out.get(), tensor);
    sources.push_back(source);
  }
  if (!gguf_write_to_file(out.get(), to.c_str(), true)) throw std::runtime_error("cannot write " + to);
  std::ofstream target(to, std::ios::binary | std::ios::app);
  std::ifstream data(from, std::ios::binary);
  const size_t alignment = gguf_get_alignment(out.get());
  for (int64_t i = 0; i < count; ++i) {
    const ggml_tensor* source = sources[static_cast<size_t>(i)];
    std::vector<char> raw(gguf_get_tensor_size(in.get(), i));
    data.seekg(static_cast<std::streamoff>(gguf_get_data_offset(in.get()) + gguf_get_tensor_offset(in.get(), i)));
    if (!data.read(raw.data(), static_cast<std::streamsize>(raw.size())))
      throw std::runtime_error(from + " is cut short");
    const int64_t elements = ggml_nelements(source);
    std::vector<float> values(static_cast<size_t>(elements));
    if (source->type == GGML_TYPE_F32)
      std::memcpy(values.data(), raw.data(), raw.size());
    else if (const auto* traits = ggml_get_type_traits(source->type); traits->to_float != nullptr)
      traits->to_float(raw.data(), values.data(), elements);
    else
      throw std::runtime_error(std::string(source->name) + " cannot be written out as F32");
    const size_t bytes = values.size() * sizeof(float);
    target.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(bytes));
    const std::vector<char> pad((alignment - bytes % alignment) % alignment);
    target.write(pad.data(), static_cast<std::streamsize>(pad.size()));
  }
  ggml_free(tensors);
  if (!target.flush()) throw std::runtime_error("cannot write " + to);
}

void serve(Peer& peer) {
  peer.describe();
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what, file;
    size_t number = 0;
    if (!(words >> what >> file >> number)) throw std::runtime_error("not understood: " + line);
    if (what == "time")
      peer.time(read_ids(file), static_cast<int>(number));
    else if (what == "path")
      peer.path(read_ids(file), static_cast<int>(number));
    else if (std::string out; what == "score" && words >> out)
      peer.score(read_ids(file), number, out);
    else
      throw std::runtime_error("not understood: " + line);
    std::fflush(stdout);
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
    const Arguments arguments = parse(count, words);
    if (!arguments.dequantise.empty()) {
      dequantise(arguments.model, arguments.dequantise);
      return 0;
    }
    Peer peer(arguments);
    serve(peer);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), usage);
    return 1;
  }
}
