// Judges whether a run met an objective, and by how much.

#ifndef DISTBENCH_REPORT_OBJECTIVES_JUDGE_OBJECTIVE_H_
#define DISTBENCH_REPORT_OBJECTIVES_JUDGE_OBJECTIVE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/measurements/test_totals.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Returns the position of the objective's RPC. NOT_FOUND if there is no such
// RPC, or if the objective names none and the test has several.
absl::StatusOr<int> FindRpc(const config::Objective& objective,
                            const TestResult& result);

// The distance of a measurement from the limit, with its standard error: the
// logarithm of measured / limit, or of the inverse for a lower limit, so that a
// positive value means missed. Infinite if too many RPCs failed for the metric
// to have a value.
struct Excess {
  double estimate = 0;
  double error = 0;
};

struct ObjectiveOutcome {
  Excess excess;

  // The 95 % confidence interval of the measurement, in the unit of
  // Objective::limit. Absent if there is no bound on that side, infinite if
  // RPCs failed there.
  std::optional<double> lower;
  std::optional<double> upper;

  // The same for the service time, if `excess` is for the response time. If
  // only the response time missed, the generator was late.
  Excess service_excess;
  std::string measured;  // for users, for example "p95 12.3 ms"

  // Whether the latencies of the RPC were still growing: a longer run would
  // have measured more.
  bool has_grown = false;
};

// The share of the objective's RPCs that may fail before objectives on its mean
// or rate are missed: the limit of an objective on its failures, otherwise
// kAllowedFailures.
double AllowedFailures(const config::Objective& objective,
                       absl::Span<const config::Objective> objectives);

// Judges the objective. NOT_FOUND if the result has no measurement for it;
// objectives on isolation need the run of an experiment's cell.
//
// RPCs that failed, expired or were never sent rank above all that succeeded: a
// percentile that falls among them misses every limit.
//
// Latencies and failures of neighbouring RPCs depend on each other, so
// intervals and errors come from the spread between blocks of at least a
// second. A run with fewer than four seconds has no blocks. Its intervals are
// too narrow, and the error of its latencies is at least a quarter.
absl::StatusOr<ObjectiveOutcome> Judge(const config::Objective& objective,
                                       const TestResult& result,
                                       const TestTotals& totals,
                                       double allowed_failures);

// CPU time of the busiest host, as a share of all its CPUs; absent if unknown.
std::optional<double> HostCpuShare(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_OBJECTIVES_JUDGE_OBJECTIVE_H_
