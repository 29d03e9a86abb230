// Sums, differences and products that are defined whatever the operands are.

#ifndef DISTBENCH_BASE_SATURATING_ADD_H_
#define DISTBENCH_BASE_SATURATING_ADD_H_

#include <cstdint>
#include <limits>

namespace distbench {

// The sum, or the int64 nearest to it.
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

// The difference, or the int64 nearest to it.
inline int64_t SaturatingSubtract(int64_t a, int64_t b) {
  int64_t difference;
  if (!__builtin_sub_overflow(a, b, &difference)) {
    return difference;
  }
  return b < 0 ? std::numeric_limits<int64_t>::max()
               : std::numeric_limits<int64_t>::min();
}

// The product, or the int64 nearest to it.
inline int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product)) {
    return product;
  }
  return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max()
                            : std::numeric_limits<int64_t>::min();
}

}  // namespace distbench

#endif  // DISTBENCH_BASE_SATURATING_ADD_H_
