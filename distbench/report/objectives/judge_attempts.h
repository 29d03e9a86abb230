// Judges objectives on goodput, and on the attempts of RPCs with a policy.

#ifndef DISTBENCH_REPORT_OBJECTIVES_JUDGE_ATTEMPTS_H_
#define DISTBENCH_REPORT_OBJECTIVES_JUDGE_ATTEMPTS_H_

#include "absl/status/statusor.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/objectives/judge_objective.h"
#include "distbench/stats/metric.h"

namespace distbench::report {

// Whether JudgeAttempts() judges the metric.
bool IsOfAttempts(const stats::Metric& metric);

// Judges goodput, amplification or wasted attempts. Requests depend on each
// other, most of all in an overload, so intervals come from the spread between
// intervals of the series, if there are at least four, and are never narrower
// than those of independent requests. NOT_FOUND if the RPC has no policy, for
// all but goodput, or if nothing was measured.
absl::StatusOr<ObjectiveOutcome> JudgeAttempts(
    const config::Objective& objective, const stats::Metric& metric,
    const RpcMeasurements& rpc);

// Judges an AttemptTime. Attempts that failed, and iterations without a quorum,
// rank above all others. There are as many independent values as requests.
// NOT_FOUND if there are no such times.
absl::StatusOr<ObjectiveOutcome> JudgeAttemptTime(
    const config::Objective& objective, const RpcMeasurements& rpc);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_OBJECTIVES_JUDGE_ATTEMPTS_H_
