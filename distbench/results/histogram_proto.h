// Encodes LogHistograms for results, and decodes them.

#ifndef DISTBENCH_RESULTS_HISTOGRAM_PROTO_H_
#define DISTBENCH_RESULTS_HISTOGRAM_PROTO_H_

#include "absl/status/status.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench::results {

// Replaces the content of `proto`.
void EncodeHistogram(const stats::LogHistogram& histogram, Histogram& proto);

// Checks that the message is a histogram that this version can read.
// INVALID_ARGUMENT explains the contradiction.
absl::Status ValidateHistogram(const Histogram& proto);

// Adds the values of `proto` to `histogram`, which is unchanged if `proto` is
// invalid.
absl::Status AddHistogram(const Histogram& proto,
                          stats::LogHistogram& histogram);

// Adds the values of `from` to `into`. Requires that both are valid, or empty.
void MergeHistogram(const Histogram& from, Histogram& into);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_HISTOGRAM_PROTO_H_
