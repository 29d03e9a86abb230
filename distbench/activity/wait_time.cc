// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/wait_time.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "distbench/base/work_random.h"

namespace distbench::activity {
namespace {

// More than 31 years. Keeps sums of times within an int64_t.
constexpr double kMaxWaitNs = 1e18;

// Uses the Box-Muller method.
double StandardNormal(base::WorkRandom& random) {
  const double radius = std::sqrt(-2 * std::log(random.Fraction()));
  return radius * std::cos(2 * std::numbers::pi * random.Fraction());
}

}  // namespace

WaitTime WaitTime::Fixed(int64_t mean_ns) {
  return WaitTime(Kind::kFixed, mean_ns, 0, 0);
}

WaitTime WaitTime::Exponential(int64_t mean_ns, uint64_t seed) {
  return WaitTime(Kind::kExponential, mean_ns, 0, seed);
}

WaitTime WaitTime::LogNormal(int64_t mean_ns, double log_sigma, uint64_t seed) {
  return WaitTime(Kind::kLogNormal, mean_ns, log_sigma, seed);
}

int64_t WaitTime::Ns(uint64_t iteration) const {
  if (kind_ == Kind::kFixed) return mean_ns_;
  base::WorkRandom random(seed_, iteration);
  const auto mean_ns = static_cast<double>(mean_ns_);
  // The mean of a log-normal distribution is exp(mu + sigma^2 / 2).
  const double ns =
      kind_ == Kind::kExponential
          ? -mean_ns * std::log(random.Fraction())
          : mean_ns * std::exp(log_sigma_ * StandardNormal(random) -
                               log_sigma_ * log_sigma_ / 2);
  return std::llround(std::min(ns, kMaxWaitNs));
}

}  // namespace distbench::activity
