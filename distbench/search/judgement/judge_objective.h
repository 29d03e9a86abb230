// Whether a run met an objective, and by how much.

#ifndef DISTBENCH_SEARCH_JUDGEMENT_JUDGE_OBJECTIVE_H_
#define DISTBENCH_SEARCH_JUDGEMENT_JUDGE_OBJECTIVE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/config/search/objective.h"
#include "proto/results.pb.h"

namespace distbench {

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

// CPU time of the busiest host as a share of all its CPUs; absent if unknown.
std::optional<double> HostCpuShare(const TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_JUDGEMENT_JUDGE_OBJECTIVE_H_
