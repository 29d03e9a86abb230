// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Saturating sums, differences and products: defined for all operands.

#ifndef DISTBENCH_BASE_SATURATING_ADD_H_
#define DISTBENCH_BASE_SATURATING_ADD_H_

#include <cstdint>
#include <limits>

namespace distbench::base {

// Returns the sum, or the int64_t nearest to it.
inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) {
    return sum;
  }
  return b > 0 ? std::numeric_limits<int64_t>::max()
               : std::numeric_limits<int64_t>::min();
}

inline void SaturatingAddTo(int64_t& total, int64_t amount) {
  total = SaturatingAdd(total, amount);
}

// Returns the difference, or the int64_t nearest to it.
inline int64_t SaturatingSubtract(int64_t a, int64_t b) {
  int64_t difference;
  if (!__builtin_sub_overflow(a, b, &difference)) {
    return difference;
  }
  return b < 0 ? std::numeric_limits<int64_t>::max()
               : std::numeric_limits<int64_t>::min();
}

// Returns the product, or the int64_t nearest to it.
inline int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product)) {
    return product;
  }
  return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max()
                            : std::numeric_limits<int64_t>::min();
}

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_SATURATING_ADD_H_
