// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Histograms and moments in encoded form: LogHistogram as Histogram, and
// RunningMoments as ValueMoments.

#ifndef DISTBENCH_RESULTS_HISTOGRAM_PROTO_H_
#define DISTBENCH_RESULTS_HISTOGRAM_PROTO_H_

#include "absl/status/status.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench::results {

// Replace the content of `proto`. EncodeMoments() requires that there are
// values.
void EncodeHistogram(const stats::LogHistogram& histogram, Histogram& proto);
void EncodeMoments(const stats::RunningMoments& moments, ValueMoments& proto);

// Check that the message is one that this version can read. INVALID_ARGUMENT
// explains the contradiction.
absl::Status ValidateHistogram(const Histogram& proto);
absl::Status ValidateMoments(const ValueMoments& proto);

// Check that the values of a valid message, together with `others`, fit into
// one message. INVALID_ARGUMENT explains why not.
absl::Status ValidateSum(const Histogram& proto,
                         const stats::RunningMoments& others);
absl::Status ValidateSum(const ValueMoments& proto,
                         const stats::RunningMoments& others);

// Adds the values of `proto` to `histogram`, which is unchanged if `proto` is
// invalid.
absl::Status AddHistogram(const Histogram& proto,
                          stats::LogHistogram& histogram);

// Adds the values of `proto`, which must be valid, to `moments`.
void AddMoments(const ValueMoments& proto, stats::RunningMoments& moments);

// The values of a message; none if it is absent. Moments must be valid; of a
// histogram that is not, there are none.
stats::LogHistogram HistogramOf(const Histogram& proto);
stats::RunningMoments MomentsOf(const ValueMoments& proto);

// Adds the values of `from` to `into`. Requires that both are valid, or empty.
void MergeHistogram(const Histogram& from, Histogram& into);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_HISTOGRAM_PROTO_H_
