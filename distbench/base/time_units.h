// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_TIME_UNITS_H_
#define DISTBENCH_BASE_TIME_UNITS_H_

#include <cstdint>

namespace distbench::base {

inline constexpr int64_t kNsPerUs = 1'000;
inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kNsPerSecond = 1'000'000'000;
inline constexpr int64_t kUsPerSecond = 1'000'000;

constexpr double ToSeconds(int64_t ns) {
  return static_cast<double>(ns) / kNsPerSecond;
}

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_TIME_UNITS_H_
