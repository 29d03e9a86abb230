// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Which parts of a set are read how often.

#ifndef DISTBENCH_ACTIVITY_ACCESS_PATTERN_H_
#define DISTBENCH_ACTIVITY_ACCESS_PATTERN_H_

#include <cstdint>

#include "distbench/base/work_random.h"

namespace distbench::activity {

struct AccessOptions {
  enum class Kind {
    kUniform,
    kNormal,  // the middle is read most; nothing is beyond the ends
    kZipf,    // the n-th is read in proportion to n^-skew
  };
  Kind kind = Kind::kUniform;

  // The standard deviation relative to the size of the set. From 0 to 1.
  double spread = 0.2;

  // Above 0.
  double skew = 0.99;
};

// Draws numbers from 0 to count - 1, in constant time and without tables.
// Immutable.
class AccessPattern {
 public:
  // `count` must be at least 1.
  AccessPattern(const AccessOptions& options, int64_t count);

  int64_t Next(base::WorkRandom& random) const;

 private:
  int64_t NextNormal(base::WorkRandom& random) const;
  int64_t NextZipf(base::WorkRandom& random) const;

  AccessOptions options_;
  int64_t count_;

  // For Zipf's distribution: the integral of x^-skew at both ends, and the
  // distance below which a number needs no second look.
  double first_integral_ = 0;
  double last_integral_ = 0;
  double sure_distance_ = 0;
};

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_ACCESS_PATTERN_H_
