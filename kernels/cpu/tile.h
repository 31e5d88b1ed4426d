// What every tiled matmul shares: the loops over row tiles and token groups, and the packing of GGUF rows into tiles.
// A tile holds `kLanes` rows side by side, one row per vector lane, so that a product needs no horizontal sum.
// Everything is a template over a type of the variant's own namespace: no symbol is shared between instruction sets.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/kernel.h"

#define HALOGEN_INLINE inline __attribute__((always_inline))
// Before a loop whose arrays are to live in registers.
#define HALOGEN_UNROLL _Pragma("GCC unroll 16")

namespace halogen::kernel {

HALOGEN_INLINE constexpr int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Activations of a chunk of tokens stay in the second-level cache while the row tiles pass by.
constexpr int64_t kChunkBytes = 384 * 1024;

// Activations in groups of kTokens. A gives: kTokens, token_bytes(columns) and
// prepare_group(x, x_stride, group, columns, tokens). Kernels that name the same A share one prepared form.
template <class A>
struct TileActivation {
  static size_t bytes(int64_t columns, int64_t tokens) { return static_cast<size_t>(A::token_bytes(columns) * tokens); }

  // The last group is interleaved by its own token count, so a single token is a plain row.
  static void prepare(const float* x, int64_t x_stride, void* activations, int64_t columns, int64_t tokens,
                      int64_t token_begin, int64_t token_end) {
    for (int64_t token = token_begin; token < token_end; token += A::kTokens) {
      const int64_t left = tokens - token;
      A::prepare_group(x + token * x_stride, x_stride,
                       static_cast<uint8_t*>(activations) + token * A::token_bytes(columns), columns,
                       left < A::kTokens ? left : int64_t{A::kTokens});
    }
  }
};

// K gives: Activation, kLanes, kTokens (of a group), tile_bytes(columns), pack_tile(gguf, tile, columns, rows) and
// run_group<T>(tile, group, columns, out, out_stride, rows). With kPaired also run_pair(tile, next_tile, group,
// columns, out, out_stride), which multiplies a whole group with two whole tiles.
template <class K>
struct TileMatmul {
  using Activation = TileActivation<typename K::Activation>;

  static size_t packed_bytes(int64_t rows, int64_t columns) {
    return static_cast<size_t>(round_up(rows, K::kLanes) / K::kLanes * K::tile_bytes(columns));
  }

  static void pack(const void* gguf, void* packed, int64_t rows, int64_t columns, int64_t row_begin, int64_t row_end) {
    const int64_t row_bytes = K::row_bytes(columns);
    for (int64_t row = row_begin; row < row_end; row += K::kLanes) {
      const int64_t left = rows - row;
      K::pack_tile(static_cast<const uint8_t*>(gguf) + row * row_bytes,
                   static_cast<uint8_t*>(packed) + row / K::kLanes * K::tile_bytes(columns), columns,
                   left < K::kLanes ? left : int64_t{K::kLanes});
    }
  }

  static size_t scratch_bytes(int64_t, int64_t) { return 0; }

  template <int T>
  static void dispatch(int64_t tokens, const uint8_t* tile, const uint8_t* group, const MatmulRun& run, float* out,
                       int64_t rows) {
    if (tokens == T) {
      K::template run_group<T>(tile, group, run.columns, out, run.out_stride, rows);
    } else if constexpr (T > 1) {
      dispatch<T - 1>(tokens, tile, group, run, out, rows);
    }
  }

  static void run(const MatmulRun& run) {
    const int64_t tile_bytes = K::tile_bytes(run.columns);
    const int64_t token_bytes = K::Activation::token_bytes(run.columns);
    const int64_t fitting = kChunkBytes / token_bytes / K::kTokens * K::kTokens;
    const int64_t chunk = fitting < K::kTokens ? int64_t{K::kTokens} : fitting;
    for (int64_t begin = 0; begin < run.tokens; begin += chunk) {
      const int64_t end = run.tokens - begin < chunk ? run.tokens : begin + chunk;
      for (int64_t row = run.row_begin; row < run.row_end;) {
        const uint8_t* tile = static_cast<const uint8_t*>(run.weights) + row / K::kLanes * tile_bytes;
        const int64_t left = run.row_end - row;
        const bool pair = K::kPaired && left >= 2 * K::kLanes;
        const int64_t rows = left < K::kLanes ? left : int64_t{K::kLanes};
        for (int64_t token = begin; token < end; token += K::kTokens) {
          const int64_t count = end - token < K::kTokens ? end - token : int64_t{K::kTokens};
          const uint8_t* group = static_cast<const uint8_t*>(run.activations) + token * token_bytes;
          float* out = run.out + token * run.out_stride + row;
          if constexpr (K::kPaired) {
            if (pair && count == K::kTokens) {
              K::run_pair(tile, tile + tile_bytes, group, run.columns, out, run.out_stride);
              continue;
            }
          }
          dispatch<K::kTokens>(count, tile, group, run, out, rows);
          if (pair) dispatch<K::kTokens>(count, tile + tile_bytes, group, run, out + K::kLanes, rows);
        }
        row += pair ? 2 * K::kLanes : K::kLanes;
      }
    }
  }

  static constexpr Matmul face() {
    return Matmul{packed_bytes,  pack, Activation::bytes, Activation::prepare,
                  scratch_bytes, run,  K::kLanes,         K::kTokens};
  }
};

}  // namespace halogen::kernel
