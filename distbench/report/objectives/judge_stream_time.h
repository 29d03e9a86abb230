#ifndef DISTBENCH_REPORT_OBJECTIVES_JUDGE_STREAM_TIME_H_
#define DISTBENCH_REPORT_OBJECTIVES_JUDGE_STREAM_TIME_H_

#include "absl/status/statusor.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/objectives/judge_objective.h"

namespace distbench::report {

// As Judge(), for an objective on a StreamTime of the RPC.
//
// Streams that failed or were never sent count with as many messages as those
// that succeeded, which rank above all times. Messages of a stream depend on
// each other, so the interval is that of as many values as there were streams.
// There is no series of messages over time, so the error is at least a quarter.
absl::StatusOr<ObjectiveOutcome> JudgeStreamTime(
    const config::Objective& objective, const RpcMeasurements& rpc);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_OBJECTIVES_JUDGE_STREAM_TIME_H_
