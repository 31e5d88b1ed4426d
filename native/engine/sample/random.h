// Counter-based random numbers: a draw depends on the seed and the position alone, so that a fork and a straight run
// agree.
#pragma once
#include <cstdint>

namespace halogen::sample {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
inline uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// Uniform in [0, 1), 53 bits.
inline double uniform(uint64_t seed, uint64_t position) {
  return static_cast<double>(mix(mix(seed) ^ mix(position + 0x632be59bd9b4e019u)) >> 11) * 0x1p-53;
}

// A fresh seed below 2^53, which every JavaScript number holds exactly.
uint64_t fresh_seed();

}  // namespace halogen::sample
