// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_CONFIG_ARRIVALS_SMALL_RANDOM_H_
#define DISTBENCH_CONFIG_ARRIVALS_SMALL_RANDOM_H_

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

#include "distbench/base/work_random.h"

namespace distbench::config {

// A random number generator of eight bytes, so that each part of each stream of
// arrivals has its own, and copies are cheap: SplitMix64 (Steele, Lea and
// Flood, Fast splittable pseudorandom number generators, OOPSLA 2014), whose
// output passes BigCrush. A UniformRandomBitGenerator.
class SmallRandom {
 public:
  using result_type = uint64_t;

  explicit SmallRandom(uint64_t seed = 0) : state_(seed) {}

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() {
    return std::numeric_limits<uint64_t>::max();
  }
  uint64_t operator()() {
    return base::WorkRandom::Mix(
        std::exchange(state_, state_ + base::WorkRandom::kIncrement));
  }

  // In [0, 1), and in (0, 1].
  double Share() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }
  double PositiveShare() { return 1 - Share(); }

  // With the mean 1.
  double Exponential() { return -std::log(PositiveShare()); }

 private:
  uint64_t state_;
};

// A seed that depends on all of the numbers and their order.
inline uint64_t CombinedSeed(std::initializer_list<uint64_t> numbers) {
  uint64_t seed = 0;
  for (const uint64_t number : numbers) seed = SmallRandom(seed ^ number)();
  return seed;
}

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_ARRIVALS_SMALL_RANDOM_H_
