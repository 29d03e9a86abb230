// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What the sequencer keeps of a running test's measurements, for the summary
// and the findings.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_SUMMARY_LOGS_H_
#define DISTBENCH_SEQUENCER_EXECUTION_SUMMARY_LOGS_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "proto/results.pb.h"

namespace distbench::sequencer {

// Merges the pieces of a test's results, without their samples, in limited
// memory. Where that is not enough, measurements become as brief as those of
// instances with little recording_memory_bytes: pairs of client and server have
// no histograms, series have wider intervals, and in the end there are no
// pairs. Counts and histograms of each instance's RPCs stay complete.
class SummaryLogs {
 public:
  // `most_bytes` of memory, about. What cannot be made briefer may take more.
  explicit SummaryLogs(int64_t most_bytes)
      : most_bytes_(most_bytes), limit_(most_bytes) {}

  // See results::MergeChunk().
  absl::Status Merge(const ResultChunk& chunk);

  // Whether anything became briefer.
  bool is_brief() const { return is_brief_; }

  ServiceLogs Take() { return std::move(logs_); }

 private:
  void MakeRoom();

  const int64_t most_bytes_;
  int64_t limit_;      // at which to make room
  int64_t bytes_ = 0;  // of logs_, at most
  bool is_brief_ = false;
  ServiceLogs logs_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_EXECUTION_SUMMARY_LOGS_H_
