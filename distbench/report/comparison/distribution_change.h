// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Whether the whole distribution of a latency changed, also where the usual
// percentiles hold still.

#ifndef DISTBENCH_REPORT_COMPARISON_DISTRIBUTION_CHANGE_H_
#define DISTBENCH_REPORT_COMPARISON_DISTRIBUTION_CHANGE_H_

#include <optional>
#include <string>

#include "distbench/report/comparison/metric_values.h"

namespace distbench::report {

// A distribution differs if its p-value is at most this.
inline constexpr double kDistributionError = 0.05;

// More runs of a group than this are not looked at.
inline constexpr int kMaxDistributionRuns = 60;

struct DistributionChange {
  // The p-value of "base and new have the same distribution". Absent if the
  // runs cannot show a difference; the reason is then given.
  std::optional<double> p_value = {};
  std::string reason = {};

  // How far apart the groups are: by how much the quantiles of the groups'
  // means differ, on average over all quantiles; 0.05 means 5 %.
  double distance = 0;

  bool differs() const { return p_value && *p_value <= kDistributionError; }
};

// Exchanges whole runs between the groups, because
// the RPCs of one run are not independent. The distance between two runs is the
// mean difference between the logarithms of their quantiles, which is the
// Wasserstein distance of the logarithms of the latencies. RPCs that failed
// count as twice the highest latency of all runs. Neither group may be empty.
//
// Groups that were measured at different times also differ by what else changed
// in between.
DistributionChange CompareDistributions(const RpcRuns& base,
                                        const RpcRuns& next,
                                        LatencyKind latency);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_DISTRIBUTION_CHANGE_H_
