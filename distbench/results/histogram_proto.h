// How a LogHistogram is written into a result, and read back.

#ifndef DISTBENCH_RESULTS_HISTOGRAM_PROTO_H_
#define DISTBENCH_RESULTS_HISTOGRAM_PROTO_H_

#include "absl/status/status.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench {

// Replaces the content of `proto`.
void EncodeHistogram(const LogHistogram& histogram, Histogram& proto);

// Whether the message is a histogram that this version can read. The error
// (INVALID_ARGUMENT) says what contradicts what.
absl::Status ValidateHistogram(const Histogram& proto);

// Adds the values of `proto` to `histogram`, which is unchanged if `proto` is
// not valid.
absl::Status AddHistogram(const Histogram& proto, LogHistogram& histogram);

}  // namespace distbench

#endif  // DISTBENCH_RESULTS_HISTOGRAM_PROTO_H_
