// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Objectives: limits that a system must meet under load.
//
//   absl::StatusOr<Objective> p95 = ParseObjective("root_query p95<=500ms");

#ifndef DISTBENCH_CONFIG_OBJECTIVES_OBJECTIVE_H_
#define DISTBENCH_CONFIG_OBJECTIVES_OBJECTIVE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/stats/metric.h"

namespace distbench::config {

// One limit, such as "root_query p95<=500ms". Percentiles and means refer to
// the response time, or to the service time in closed loops, in nanoseconds.
// Failures, wasted attempts, CPU and isolation are shares (1 is 100 %); rates
// and goodput are per second; amplification is attempts per request. Server
// metrics are in the unit of the limit.
struct Objective {
  std::string text;

  // Empty: the test's only RPC; the experiment's for isolation; none for the
  // CPU and server metrics.
  std::string rpc;
  stats::Metric metric;
  bool is_upper_limit;
  double limit;  // positive, in the unit of the metric

  // Of isolation: requests that took longer are not goodput. From the
  // experiment, not from the text.
  std::optional<int64_t> served_within_ns;
};

// Parses [RPC] METRIC<=LIMIT or METRIC>=LIMIT, such as cpu<=60%,
// isol_p05>=90% or attempt_p99<=20ms. METRIC is one of stats/metric.h; LIMIT is
// a duration (500ms), a share (0.1%), a rate (1000) or, for amplification, a
// number (1.2). The limit of a server metric (metric:cpu<=70%) is any of these,
// or a size (2GiB): the text does not say which one is right. Without an RPC,
// the test's only one is meant. INVALID_ARGUMENT says what is wrong and shows
// the correct form.
absl::StatusOr<Objective> ParseObjective(absl::string_view text);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_OBJECTIVES_OBJECTIVE_H_
