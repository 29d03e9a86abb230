// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_WORK_RANDOM_H_
#define DISTBENCH_BASE_WORK_RANDOM_H_

#include <cstdint>
#include <limits>

namespace distbench::base {

// Random numbers for work that is done often. There is a stream for each seed
// and up to two further numbers, such as that of an activity's iteration. A
// number takes about a nanosecond and starting a stream nothing, so every
// iteration can have its own stream. SplitMix64: Steele, Lea, Flood, "Fast
// Splittable Pseudorandom Number Generators", 2014.
class WorkRandom {
 public:
  using result_type = uint64_t;

  // From the state of a number to that of the next one.
  static constexpr uint64_t kIncrement = 0x9e3779b97f4a7c15u;

  explicit WorkRandom(uint64_t seed, uint64_t stream = 0, uint64_t part = 0)
      : state_(Mix(Mix(Mix(seed) + stream) + part)) {}

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() {
    return std::numeric_limits<uint64_t>::max();
  }

  uint64_t operator()() { return Finish(state_ += kIncrement); }

  // A uniform number below `bound`, with a bias of at most bound / 2^64.
  // `bound` must be at least 1.
  uint64_t Below(uint64_t bound) {
    const auto product = static_cast<unsigned __int128>((*this)()) * bound;
    return static_cast<uint64_t>(product >> 64);
  }

  // A uniform number in (0, 1).
  double Fraction() {
    return (static_cast<double>((*this)() >> 11) + 0.5) * 0x1p-53;
  }

  // Maps each number to one that looks random.
  static uint64_t Mix(uint64_t value) { return Finish(value + kIncrement); }

 private:
  static uint64_t Finish(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
  }

  uint64_t state_;
};

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_WORK_RANDOM_H_
