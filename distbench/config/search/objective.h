// Objectives: limits that a system must meet under load; and the limits of a
// search for the highest such load.
//
//   absl::StatusOr<Objective> p95 = ParseObjective("root_query p95<=500ms");

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

// One limit, such as "root_query p95<=500ms". Percentiles and means refer to
// the response time, or to the service time in closed loops, in nanoseconds.
// Failures and CPU are shares from 0 to 1; rates are per second.
struct Objective {
  std::string text;
  std::string rpc;  // empty: the test's only RPC, or none for HostCpu
  std::variant<Metric, HostCpu> metric;
  bool is_upper_limit;
  double limit;  // positive
};

// Parses [RPC] METRIC<=LIMIT or METRIC>=LIMIT, or cpu<=PERCENT%. METRIC is one
// of stats/metric.h; LIMIT is a duration (500ms), a share (0.1%) or a rate
// (1000). Without an RPC, the test's only one is meant. INVALID_ARGUMENT says
// what is wrong and shows the correct form.
absl::StatusOr<Objective> ParseObjective(absl::string_view text);

// Limits of a load search's settings, in configs and on the command line.
inline constexpr double kMaxSearchLoad = 1e12;
inline constexpr double kMinSearchTolerance = 0.001;
inline constexpr double kMaxSearchTolerance = 0.5;
inline constexpr int kMinSearchProbes = 3;
inline constexpr int kMaxSearchProbes = 1000;

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_SEARCH_OBJECTIVE_H_
