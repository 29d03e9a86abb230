// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Whether a service holds still: its throughput and latency neither grow nor
// shrink.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_STABILITY_H_
#define DISTBENCH_PRODUCTS_PROTECTION_STABILITY_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace distbench::protection {

// One interval of a service's record; all intervals are equally long and follow
// each other.
struct StabilityInterval {
  // Requests that succeeded, per second.
  double throughput = 0;

  // Median, in nanoseconds; absent if no request succeeded. Rarer percentiles
  // of single seconds would mostly be noise.
  std::optional<double> latency_ns;
};

// The least-squares slope of consecutive values, relative to their mean.
struct Trend {
  double percent_per_second = 0;

  // Standard error, in the same unit.
  double error = 0;
};

// Requires at least three values with a positive mean.
Trend TrendOf(absl::Span<const double> values, double interval_seconds);

struct FlatnessRule {
  double within_percent = 0.25;  // per second
  size_t intervals = 10;  // over which the slope is taken; at least three
};

// A trend is flat if it may be within the rule's percentage: if its distance
// from that is at most twice its error. A trend whose error exceeds ten times
// the percentage proves nothing, and is not flat.
bool IsFlat(const Trend& trend, const FlatnessRule& rule);

struct Stability {
  // Whether throughput and latency are flat at the end of the record.
  bool is_stable = false;

  // If so: the first interval since which they have been.
  size_t since = 0;

  // For users: the trends at the end, or why they are not flat.
  std::string description;
};

// Pure. An interval without requests is not flat, and neither is a record that
// is shorter than the rule demands.
Stability JudgeStability(absl::Span<const StabilityInterval> record,
                         double interval_seconds, const FlatnessRule& rule);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_STABILITY_H_
