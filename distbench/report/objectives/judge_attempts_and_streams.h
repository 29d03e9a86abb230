// Objectives on what happens within an RPC: its attempts, its parts of time,
// its stream.

#ifndef DISTBENCH_REPORT_OBJECTIVES_JUDGE_ATTEMPTS_AND_STREAMS_H_
#define DISTBENCH_REPORT_OBJECTIVES_JUDGE_ATTEMPTS_AND_STREAMS_H_

#include <string>

#include "absl/status/statusor.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/objectives/judge_objective.h"
#include "distbench/stats/metric.h"

namespace distbench::report {

// Judges objectives on goodput, and on the attempts of RPCs with a policy.

// Whether JudgeAttempts() judges the metric.
bool IsOfAttempts(const stats::Metric& metric);

// Judges goodput, amplification or wasted attempts. Requests depend on each
// other, most of all in an overload, so intervals come from the spread between
// intervals of the series, if there are at least two, and those on attempts
// are never narrower than those of independent requests. NOT_FOUND if the RPC
// has no policy, for all but goodput, or if nothing was measured.
absl::StatusOr<ObjectiveOutcome> JudgeAttempts(
    const config::Objective& objective, const stats::Metric& metric,
    const RpcMeasurements& rpc);

// Requests of an RPC per second of the time in which they were measured.
struct MeasuredRate {
  stats::Metric metric;  // the rate or the goodput
  double per_second = 0;
  double count = 0;  // of these requests
};

// Judges a rate by its spread between whole intervals of the series, and by the
// requests in flight at both ends of the measured time: a load that was sent
// evenly has a narrow interval, and one that stalled a wide one. In open loops,
// the spread is that of the share of what was due, because a plan that varies
// (cycles, bursts) is no error. Without two such intervals, requests are taken
// to be independent.
ObjectiveOutcome JudgePerSecond(const config::Objective& objective,
                                const RpcMeasurements& rpc,
                                const MeasuredRate& rate, std::string measured);

// Judges a PartTime of attempts. Attempts that failed, and iterations without a
// quorum, rank above all others. There are as many independent values as
// requests. NOT_FOUND if there are no such times.
absl::StatusOr<ObjectiveOutcome> JudgeAttemptTime(
    const config::Objective& objective, const RpcMeasurements& rpc);

// As Judge(), for an objective on a PartTime of the RPC's stream.
//
// Streams that failed or were never sent count with as many messages as those
// that succeeded, which rank above all times. Messages of a stream depend on
// each other, so the interval is that of as many values as there were streams.
// There is no series of messages over time, so the error is at least a quarter.
absl::StatusOr<ObjectiveOutcome> JudgeStreamTime(
    const config::Objective& objective, const RpcMeasurements& rpc);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_OBJECTIVES_JUDGE_ATTEMPTS_AND_STREAMS_H_
