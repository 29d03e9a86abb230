// RunningMoments as ValueMoments, their encoded form.

#ifndef DISTBENCH_RESULTS_MOMENTS_PROTO_H_
#define DISTBENCH_RESULTS_MOMENTS_PROTO_H_

#include "absl/status/status.h"
#include "distbench/stats/running_moments.h"
#include "proto/results.pb.h"

namespace distbench::results {

// INVALID_ARGUMENT describes a contradiction.
absl::Status ValidateMoments(const ValueMoments& moments);

// Adds to `into`. Requires valid moments.
void AddMoments(const ValueMoments& from, stats::RunningMoments& into);

// Replaces the content of `proto`. Requires that there are values.
void EncodeMoments(const stats::RunningMoments& moments, ValueMoments& proto);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_MOMENTS_PROTO_H_
