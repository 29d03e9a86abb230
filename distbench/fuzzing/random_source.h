// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_FUZZING_RANDOM_SOURCE_H_
#define DISTBENCH_FUZZING_RANDOM_SOURCE_H_

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <random>
#include <vector>

namespace distbench::fuzzing {

// Random choices for test generators. Equal seeds make equal choices.
class RandomSource {
 public:
  explicit RandomSource(uint64_t seed) : random_(seed) {}

  // Uniform, including both ends.
  int64_t Between(int64_t lower, int64_t upper) {
    return std::uniform_int_distribution<int64_t>(lower, upper)(random_);
  }

  // Requires 0 <= probability <= 1.
  bool Chance(double probability) {
    return std::bernoulli_distribution(probability)(random_);
  }

  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return *std::next(values.begin(), Between(0, values.size() - 1));
  }

  // Requires a non-empty vector.
  template <typename T>
  const T& OneOf(const std::vector<T>& values) {
    return values[Between(0, values.size() - 1)];
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace distbench::fuzzing

#endif  // DISTBENCH_FUZZING_RANDOM_SOURCE_H_
