// StreamStatistics in unpacked form, in which results are added up.

#ifndef DISTBENCH_RESULTS_STREAM_TOTALS_H_
#define DISTBENCH_RESULTS_STREAM_TOTALS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench::results {

// StreamStatistics documents the members. Counts saturate at the maximum of an
// int64. Copyable.
struct StreamTotals {
  void Merge(const StreamTotals& other);

  // Adds further statistics. INVALID_ARGUMENT, and adds nothing, if a count is
  // negative or a histogram inconsistent.
  absl::Status Add(const StreamStatistics& statistics);

  // Replaces the content of `statistics`.
  void Encode(StreamStatistics& statistics) const;

  int64_t stream_count = 0;
  int64_t request_messages = 0;
  int64_t response_messages = 0;
  int64_t request_bytes = 0;
  int64_t response_bytes = 0;
  stats::LogHistogram first_message_ns;
  stats::LogHistogram gap_ns;
  stats::LogHistogram round_trip_ns;
  stats::LogHistogram client_blocked_ns;
  stats::LogHistogram server_blocked_ns;
};

// Adds `from` to `into`. The error is as of StreamTotals::Add().
absl::Status MergeStreamStatistics(const StreamStatistics& from,
                                   StreamStatistics& into);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_STREAM_TOTALS_H_
