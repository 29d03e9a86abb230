// Judges whether a run met an objective, and by how much.

#ifndef DISTBENCH_REPORT_OBJECTIVES_JUDGE_OBJECTIVE_H_
#define DISTBENCH_REPORT_OBJECTIVES_JUDGE_OBJECTIVE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/config/search/objective.h"
#include "proto/results.pb.h"

namespace distbench {

// The position of the objective's RPC. NOT_FOUND if there is no such RPC, or if
// the objective names none and the test has several.
absl::StatusOr<int> FindRpc(const Objective& objective,
                            const TestResult& result);

// How far a measurement was from the limit: the logarithm of measured / limit,
// or of its inverse for a lower limit, so that what is above 0 missed. With its
// standard error. Infinite if RPCs failed where there should be a latency.
struct Excess {
  double estimate = 0;
  double error = 0;
};

struct ObjectiveOutcome {
  Excess excess;

  // The 95 % interval of what was measured, in the unit of Objective::limit.
  // Absent: there is no bound on that side. Infinite: RPCs failed there.
  std::optional<double> lower;
  std::optional<double> upper;

  // The same of the service time, where `excess` is of the response time: if
  // only the latter missed, it was the generator that was late.
  Excess service_excess;
  std::string measured;  // for users, for example "p95 12.3 ms"
};

// The share of the objective's RPC that may fail before objectives on its mean or
// rate are missed: the limit of an objective on its failures, else
// kAllowedFailures.
double AllowedFailures(const Objective& objective,
                       absl::Span<const Objective> objectives);

// NOT_FOUND if the result says nothing of what the objective is about.
//
// RPCs that failed, expired or were never sent rank above all that succeeded: a
// percentile that falls among them misses every limit.
absl::StatusOr<ObjectiveOutcome> Judge(const Objective& objective,
                                       const TestResult& result,
                                       double allowed_failures);

// CPU time of the busiest host, as a share of all its CPUs; absent if unknown.
std::optional<double> HostCpuShare(const TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_OBJECTIVES_JUDGE_OBJECTIVE_H_
