// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// RpcStatistics in unpacked form, in which they are recorded and added up. The
// message documents the members. Counts saturate at the maximum of an int64.

#ifndef DISTBENCH_RESULTS_RPC_TOTALS_H_
#define DISTBENCH_RESULTS_RPC_TOTALS_H_

#include <cstdint>
#include <limits>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench::results {

// The plain numbers of RpcStatistics. Small, unlike RpcTotals.
struct RpcCounts {
  void Add(const RpcCounts& other);

  // From the first timestamp to the last; 0 if there are none.
  int64_t duration_ns() const;

  // Whether any RPC was sent, so that the timestamps are meaningful.
  bool has_timestamps() const;

  int64_t succeeded_count = 0;
  int64_t failed_count = 0;
  int64_t warmup_count = 0;
  int64_t request_bytes = 0;
  int64_t response_bytes = 0;
  int64_t dropped_sample_count = 0;
  int64_t wire_shared_count = 0;
  int64_t first_start_timestamp_ns = std::numeric_limits<int64_t>::max();
  int64_t last_end_timestamp_ns = std::numeric_limits<int64_t>::min();
};

RpcCounts CountsOf(const RpcStatistics& statistics);

// The latencies that are kept if there is no memory for histograms.
struct LatencyMoments {
  stats::RunningMoments service_time_ns;
  stats::RunningMoments response_time_ns;
  stats::RunningMoments lateness_ns;
};

// Parts of the service time; see RpcStatistics.
enum class TimePart { kServerQueue, kServerHandler, kNetwork, kWire };

// Those that add up to it, as far as servers report theirs.
inline constexpr TimePart kTimeParts[] = {
    TimePart::kServerQueue, TimePart::kServerHandler, TimePart::kNetwork};

// Returns the part's name in reports, such as "server_queue".
absl::string_view NameOf(TimePart part);

// All of RpcStatistics. Copyable.
struct RpcTotals {
  // Adds further statistics. INVALID_ARGUMENT, and adds nothing, if a count is
  // negative, or a histogram or moments are inconsistent.
  absl::Status Add(const RpcStatistics& statistics);

  // Replaces the content of `statistics`.
  void Encode(RpcStatistics& statistics) const;

  // Adds only the histograms of `other`.
  void MergeHistograms(const RpcTotals& other);

  // Replaces the histograms by moments, which time parts do not have.
  void DropHistograms();

  // The memory of this object, and of its histograms' buckets.
  int64_t memory_bytes() const;

  RpcCounts counts;
  stats::LogHistogram service_time_ns;
  stats::LogHistogram response_time_ns;
  stats::LogHistogram lateness_ns;

  // Only parts that have values.
  std::map<TimePart, stats::LogHistogram> time_parts_ns;

  // Moments of values that are in no histogram here.
  LatencyMoments moments;

  // Key: index into an error dictionary; means nothing once statistics of
  // several instances were added.
  std::map<int32_t, int64_t> failures_by_error;
};

// INVALID_ARGUMENT, with the reason, if Add() would not add the statistics.
absl::Status ValidateStatistics(const RpcStatistics& statistics);

// Adds `from` to `into`. Both must come from the same instance, because
// failures are counted by index into its error dictionary. INVALID_ARGUMENT if
// either is inconsistent; `into` is then unchanged.
absl::Status MergeStatistics(const RpcStatistics& from, RpcStatistics& into);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_RPC_TOTALS_H_
