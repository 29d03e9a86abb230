// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ACTIVITY_WAIT_TIME_H_
#define DISTBENCH_ACTIVITY_WAIT_TIME_H_

#include <cstdint>

namespace distbench::activity {

// The durations of an activity that only waits. Immutable.
class WaitTime {
 public:
  // mean_ns must be at least 1. log_sigma is the standard deviation of the
  // logarithm, at least 0. Equal seeds give equal times.
  static WaitTime Fixed(int64_t mean_ns);
  static WaitTime Exponential(int64_t mean_ns, uint64_t seed);
  static WaitTime LogNormal(int64_t mean_ns, double log_sigma, uint64_t seed);

  // The duration of an iteration in nanoseconds, at least 0.
  int64_t Ns(uint64_t iteration) const;

 private:
  enum class Kind { kFixed, kExponential, kLogNormal };

  WaitTime(Kind kind, int64_t mean_ns, double log_sigma, uint64_t seed)
      : kind_(kind), mean_ns_(mean_ns), log_sigma_(log_sigma), seed_(seed) {}

  Kind kind_;
  int64_t mean_ns_;
  double log_sigma_;
  uint64_t seed_;
};

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_WAIT_TIME_H_
