// Speed of every matmul kernel this CPU can run, on the shapes of SmolLM2-135M and two larger: GB/s and GMAC/s as JSON.
// 1 and 2 threads, best of several runs; a single token reads weights that no cache holds, as a whole model would.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "test/kernels/check.h"
#include "test/kernels/sample.h"

namespace {

using namespace halogen::kernel;

struct Shape {
  const char* name;
  int64_t rows, columns;
};

const Shape kShapes[] = {{"qkv", 960, 576},    {"attention_out", 576, 576}, {"gate_up", 3072, 576}, {"down", 576, 1536},
                         {"head", 49152, 576}, {"expert", 512, 2048},       {"large", 4096, 4096}};

// CPU time of this thread: a kernel never waits, so on an idle machine it is the wall time, and a busy one disturbs it
// less.
double seconds() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
#else
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

template <class Work>
double best_of(int threads, int repeats, int inner, const Work& work) {
  double best = 1e30;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    std::vector<std::thread> pool;
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    std::vector<double> spent(static_cast<size_t>(threads));
    for (int thread = 0; thread < threads; ++thread) {
      pool.emplace_back([&, thread] {
        ++ready;
        while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
        const double start = seconds();
        for (int i = 0; i < inner; ++i) work(thread, i);
        spent[static_cast<size_t>(thread)] = seconds() - start;
      });
    }
    while (ready.load() != threads) std::this_thread::yield();
    go.store(true, std::memory_order_release);
    for (auto& thread : pool) thread.join();
    double slowest = 0;
    for (const double time : spent) slowest = time > slowest ? time : slowest;
    best = slowest < best ? slowest : best;
  }
  return best / inner;
}

}  // namespace

namespace halogen::test {

void bench(const std::string& wanted) {
  bool first = true;
  std::printf("[\n");
  for (const Entry& entry : entries()) {
    const std::string key = std::string(entry.quant) + "/" + entry.variant;
    if (std::strcmp(entry.op, "matmul") != 0 || !missing_features(entry.variant).empty()) continue;
    if (key.rfind(wanted, 0) != 0) continue;
    if (wanted.empty() && std::strcmp(entry.variant, "reference") == 0) continue;
    const Matmul& matmul = *static_cast<const Matmul*>(entry.data);
    for (const Shape& shape : kShapes) {
      if (shape.columns % layout(entry.quant).block != 0) continue;
      Random random(1);
      const auto gguf = random_blocks(random, entry.quant, shape.rows * shape.columns);
      const size_t packed_bytes = matmul.packed_bytes(shape.rows, shape.columns);
      // Copies beyond the last-level cache, so that one token reads memory as a whole model would.
      const int64_t copies = 1 + static_cast<int64_t>((size_t{96} << 20) / packed_bytes);
      const size_t step = (packed_bytes + 63) / 64 * 64;
      Buffer packed(step * static_cast<size_t>(copies));
      for (uint8_t* copy = packed.data(); copy < packed.data() + packed.size(); copy += step) {
        if (matmul.pack) {
          matmul.pack(gguf.data(), copy, shape.rows, shape.columns, 0, shape.rows);
        } else {
          std::memcpy(copy, gguf.data(), packed_bytes);
        }
      }
      for (const int64_t tokens : {int64_t{1}, int64_t{4}, int64_t{512}}) {
        if (tokens > 4 && std::strcmp(shape.name, "head") == 0) continue;
        const auto x = random_floats(random, tokens * shape.columns);
        Buffer activations(matmul.activation_bytes(shape.columns, tokens));
        matmul.prepare(x.data(), shape.columns, activations.data(), shape.columns, tokens, 0, tokens);
        std::vector<float> out(static_cast<size_t>(tokens * shape.rows));
        Buffer scratch(2 * matmul.scratch_bytes(shape.columns, tokens) + 128);
        for (int threads = 1; threads <= 2; ++threads) {
          const int inner = tokens <= 4 ? static_cast<int>(copies) : 1;
          const double time = best_of(threads, 7, inner, [&](int thread, int i) {
            const int64_t half = shape.rows / 2 / matmul.row_granule * matmul.row_granule;
            MatmulRun run{
                packed.data() + static_cast<size_t>(i) * step,
                activations.data(),
                out.data(),
                shape.rows,
                shape.rows,
                shape.columns,
                thread == 0 ? 0 : half,
                threads == 1 || thread == 1 ? shape.rows : half,
                tokens,
                reinterpret_cast<float*>(scratch.data() + static_cast<size_t>(thread) * (scratch.size() / 128 * 64))};
            matmul.run(run);
          });
          const double macs =
              static_cast<double>(shape.rows) * static_cast<double>(shape.columns) * static_cast<double>(tokens);
          std::printf(
              "%s  {\"kernel\": \"%s\", \"shape\": \"%s\", \"tokens\": %ld, \"threads\": %d, \"microseconds\": %.1f, "
              "\"gb_per_s\": %.1f, \"gmac_per_s\": %.1f}",
              first ? "" : ",\n", key.c_str(), shape.name, static_cast<long>(tokens), threads, time * 1e6,
              static_cast<double>(packed_bytes) / time * 1e-9, macs / time * 1e-9);
          first = false;
        }
      }
    }
  }
  std::printf("\n]\n");
}

}  // namespace halogen::test
