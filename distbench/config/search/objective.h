// What a system must meet while it carries a load, as people write it.

#ifndef DISTBENCH_CONFIG_SEARCH_OBJECTIVE_H_
#define DISTBENCH_CONFIG_SEARCH_OBJECTIVE_H_

#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/stats/metric.h"

namespace distbench {

// CPU time of the busiest host, as a share of all its CPUs.
struct HostCpu {};

// One limit, such as "root_query p95<=500ms". Percentiles and means are of the
// response time, or of the service time in closed loops, and in nanoseconds;
// failures and CPU are shares from 0 to 1; rates are per second.
struct Objective {
  std::string text;
  std::string rpc;  // empty: the only one, or none for HostCpu
  std::variant<Metric, HostCpu> metric;
  bool is_upper_limit;
  double limit;  // positive
};

// [RPC] METRIC<=LIMIT or METRIC>=LIMIT, where METRIC is one of stats/metric.h,
// and LIMIT a duration (500ms), a share (0.1%) or a rate (1000); or
// cpu<=PERCENT%. Without an RPC, the test's only one is meant. The error
// (INVALID_ARGUMENT) says what is wrong and shows what is right.
absl::StatusOr<Objective> ParseObjective(absl::string_view text);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_SEARCH_OBJECTIVE_H_
