// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Whether figures of servers were others in the seconds that made the tail.

#ifndef DISTBENCH_PRODUCTS_SERVER_METRICS_TAIL_CONTRAST_H_
#define DISTBENCH_PRODUCTS_SERVER_METRICS_TAIL_CONTRAST_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/products/server_metrics/measured_metric.h"
#include "proto/results.pb.h"

namespace distbench::server_metrics {

// The worst seconds are a tenth, and there are at least so many in all.
inline constexpr size_t kFewestSeconds = 20;

// The RPCs that are looked at: those with the most requests.
inline constexpr size_t kMaxContrastedRpcs = 4;

// One figure in the seconds with the highest p99 of an RPC, and in the others.
struct TailContrast {
  std::string rpc;
  size_t metric = 0;  // its position among those of ContrastTails()
  size_t worst_seconds = 0;
  size_t seconds = 0;         // all, the worst among them
  int64_t worst_from_ns = 0;  // the lowest p99 among the worst
  double worst_mean = 0;
  double other_mean = 0;

  // How often the means differ as much where one of the two series is shifted
  // in time against the other, around its end: the p-value of a permutation
  // test that keeps the dependence of neighbours in each series.
  double p_value = 1;
};

// Contrasts for all of the metrics with values in enough seconds of the
// measured time, in which at least 100 requests ended. Of a value that looks
// back, the middle of that time counts.
std::vector<TailContrast> ContrastTails(
    const TestResult& result, absl::Span<const MeasuredMetric> metrics);

// The p-value of a difference between the means of marked and other values;
// both kinds are there.
double ShiftPValue(absl::Span<const double> values,
                   const std::vector<bool>& is_marked);

}  // namespace distbench::server_metrics

#endif  // DISTBENCH_PRODUCTS_SERVER_METRICS_TAIL_CONTRAST_H_
