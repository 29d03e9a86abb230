// What a system must meet while it carries a load.

#ifndef DISTBENCH_SEARCH_OBJECTIVE_H_
#define DISTBENCH_SEARCH_OBJECTIVE_H_

#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/report/metric.h"
#include "proto/results.pb.h"

namespace distbench {

// CPU time of the busiest host, as a share of all its CPUs.
struct HostCpu {};

// One limit, such as "root_query p95<=500ms". Percentiles and means are of the
// response time, or of the service time in closed loops, and in nanoseconds;
// failures and CPU are shares from 0 to 1; rates are per second.
struct Objective {
  std::string text;
  std::string rpc;  // empty for HostCpu
  std::variant<Metric, HostCpu> metric;
  bool is_upper_limit;
  double limit;  // positive
};

// [RPC] METRIC<=LIMIT or METRIC>=LIMIT, where METRIC is one of report/metric.h,
// and LIMIT a duration (500ms), a share (0.1%) or a rate (1000); or
// cpu<=PERCENT%. Without an RPC, the test's only one is meant. The error
// (INVALID_ARGUMENT) says what is wrong and shows what is right.
absl::StatusOr<Objective> ParseObjective(absl::string_view text);

// The position of the RPC that the objective is about. NOT_FOUND if there is no
// such RPC, or no telling which.
absl::StatusOr<int> FindRpc(const Objective& objective,
                            const TestResult& result);

// How far a measurement was from the limit: the logarithm of measured / limit,
// or of its inverse for a lower limit, so that what is above 0 missed. With its
// standard error.
struct Excess {
  double estimate = 0;
  double error = 0;
};

struct ObjectiveOutcome {
  Excess excess;

  // The same of the service time, where `excess` is of the response time: if
  // only the latter missed, it was the generator that was late.
  Excess service_excess;
  std::string measured;  // for people, such as "p95 12.3 ms"
};

// NOT_FOUND if the result says nothing of what the objective is about.
absl::StatusOr<ObjectiveOutcome> Judge(const Objective& objective,
                                       const TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_OBJECTIVE_H_
