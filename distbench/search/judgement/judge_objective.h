// Judges whether a run met an objective, and by how much.

#ifndef DISTBENCH_SEARCH_JUDGEMENT_JUDGE_OBJECTIVE_H_
#define DISTBENCH_SEARCH_JUDGEMENT_JUDGE_OBJECTIVE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/config/search/objective.h"
#include "proto/results.pb.h"

namespace distbench {

// The position of the objective's RPC. NOT_FOUND if there is no such RPC, or if
// the objective names none and the test has several.
absl::StatusOr<int> FindRpc(const Objective& objective,
                            const TestResult& result);

// The distance of a measurement from the limit, with its standard error: the
// logarithm of measured / limit, or of the inverse for a lower limit. Positive
// values missed.
struct Excess {
  double estimate = 0;
  double error = 0;
};

struct ObjectiveOutcome {
  Excess excess;

  // The same for the service time, if `excess` is about the response time. If
  // only the response time missed, the generator was late.
  Excess service_excess;
  std::string measured;  // for users, for example "p95 12.3 ms"
};

// NOT_FOUND if the result lacks the objective's measurement.
absl::StatusOr<ObjectiveOutcome> Judge(const Objective& objective,
                                       const TestResult& result);

// CPU time of the busiest host, as a share of all its CPUs; absent if unknown.
std::optional<double> HostCpuShare(const TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_JUDGEMENT_JUDGE_OBJECTIVE_H_
