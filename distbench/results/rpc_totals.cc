// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/rpc_totals.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/substitute.h"
#include "distbench/base/saturating_add.h"
#include "distbench/results/message_sums.h"
#include "google/protobuf/descriptor.h"

namespace distbench::results {
namespace {

struct CountField {
  int field;  // its number
  int64_t RpcCounts::*count;
};

// Without the timestamps, which are extremes.
constexpr CountField kCounts[] = {
    {RpcStatistics::kSucceededCountFieldNumber, &RpcCounts::succeeded_count},
    {RpcStatistics::kFailedCountFieldNumber, &RpcCounts::failed_count},
    {RpcStatistics::kWarmupCountFieldNumber, &RpcCounts::warmup_count},
    {RpcStatistics::kRequestBytesFieldNumber, &RpcCounts::request_bytes},
    {RpcStatistics::kResponseBytesFieldNumber, &RpcCounts::response_bytes},
    {RpcStatistics::kDroppedSampleCountFieldNumber,
     &RpcCounts::dropped_sample_count},
    {RpcStatistics::kWireSharedCountFieldNumber,
     &RpcCounts::wire_shared_count}};

struct LatencyField {
  int histogram_field;
  int moments_field;
  stats::LogHistogram RpcTotals::*histogram;
  stats::RunningMoments LatencyMoments::*moments;
};

constexpr LatencyField kLatencies[] = {
    {RpcStatistics::kServiceTimeNsFieldNumber,
     RpcStatistics::kServiceTimeMomentsFieldNumber, &RpcTotals::service_time_ns,
     &LatencyMoments::service_time_ns},
    {RpcStatistics::kResponseTimeNsFieldNumber,
     RpcStatistics::kResponseTimeMomentsFieldNumber,
     &RpcTotals::response_time_ns, &LatencyMoments::response_time_ns},
    {RpcStatistics::kLatenessNsFieldNumber,
     RpcStatistics::kLatenessMomentsFieldNumber, &RpcTotals::lateness_ns,
     &LatencyMoments::lateness_ns}};

const google::protobuf::FieldDescriptor& FieldOf(TimePart part) {
  static constexpr int kNumbers[] = {RpcStatistics::kServerQueueNsFieldNumber,
                                     RpcStatistics::kServerHandlerNsFieldNumber,
                                     RpcStatistics::kNetworkNsFieldNumber,
                                     RpcStatistics::kWireTimeNsFieldNumber};
  return *RpcStatistics::descriptor()->FindFieldByNumber(
      kNumbers[static_cast<int>(part)]);
}

constexpr TimePart kAllParts[] = {TimePart::kServerQueue,
                                  TimePart::kServerHandler, TimePart::kNetwork,
                                  TimePart::kWire};

}  // namespace

void RpcCounts::Add(const RpcCounts& other) {
  for (const CountField& each : kCounts) {
    base::SaturatingAddTo(this->*each.count, other.*each.count);
  }
  first_start_timestamp_ns =
      std::min(first_start_timestamp_ns, other.first_start_timestamp_ns);
  last_end_timestamp_ns =
      std::max(last_end_timestamp_ns, other.last_end_timestamp_ns);
}

bool RpcCounts::has_timestamps() const {
  return first_start_timestamp_ns <= last_end_timestamp_ns;
}

int64_t RpcCounts::duration_ns() const {
  return has_timestamps() ? last_end_timestamp_ns - first_start_timestamp_ns
                          : 0;
}

RpcCounts CountsOf(const RpcStatistics& statistics) {
  RpcCounts counts;
  for (const CountField& each : kCounts) {
    AddField(statistics, each.field, counts.*each.count);
  }
  if (statistics.has_first_start_timestamp_ns() &&
      statistics.has_last_end_timestamp_ns()) {
    counts.first_start_timestamp_ns = statistics.first_start_timestamp_ns();
    counts.last_end_timestamp_ns = statistics.last_end_timestamp_ns();
  }
  return counts;
}

absl::string_view NameOf(TimePart part) {
  absl::string_view name = FieldOf(part).name();
  name.remove_suffix(absl::string_view("_ns").size());
  return name;
}

absl::Status ValidateStatistics(const RpcStatistics& statistics) {
  int64_t least = 0;
  for (const auto& [error_index, count] : statistics.failures_by_error()) {
    least = std::min(least, count);
  }
  if (least == 0) return ValidateCounters(statistics, {});
  return absl::InvalidArgumentError(
      absl::Substitute(CounterTexts().negative_count, least));
}

absl::Status RpcTotals::Add(const RpcStatistics& statistics) {
  if (absl::Status status = ValidateStatistics(statistics); !status.ok()) {
    return status;
  }
  counts.Add(CountsOf(statistics));
  for (const LatencyField& each : kLatencies) {
    AddField(statistics, each.histogram_field, this->*each.histogram);
    AddField(statistics, each.moments_field, moments.*each.moments);
  }
  for (const TimePart part : kAllParts) {
    const google::protobuf::FieldDescriptor& field = FieldOf(part);
    if (!statistics.GetReflection()->HasField(statistics, &field)) continue;
    AddField(statistics, field.number(), time_parts_ns[part]);
  }
  for (const auto& [error_index, count] : statistics.failures_by_error()) {
    base::SaturatingAddTo(failures_by_error[error_index], count);
  }
  return absl::OkStatus();
}

void RpcTotals::Encode(RpcStatistics& statistics) const {
  statistics.Clear();
  for (const CountField& each : kCounts) {
    EncodeField(counts.*each.count, each.field, statistics);
  }
  // Few tests measure wire times.
  if (counts.wire_shared_count == 0) statistics.clear_wire_shared_count();
  if (counts.has_timestamps()) {
    statistics.set_first_start_timestamp_ns(counts.first_start_timestamp_ns);
    statistics.set_last_end_timestamp_ns(counts.last_end_timestamp_ns);
  }
  for (const LatencyField& each : kLatencies) {
    EncodeField(this->*each.histogram, each.histogram_field, statistics);
    EncodeField(moments.*each.moments, each.moments_field, statistics);
  }
  for (const auto& [part, times_ns] : time_parts_ns) {
    EncodeField(times_ns, FieldOf(part).number(), statistics);
  }
  statistics.mutable_failures_by_error()->insert(failures_by_error.begin(),
                                                 failures_by_error.end());
}

void RpcTotals::MergeHistograms(const RpcTotals& other) {
  for (const LatencyField& each : kLatencies) {
    (this->*each.histogram).Merge(other.*each.histogram);
  }
  for (const auto& [part, times_ns] : other.time_parts_ns) {
    time_parts_ns[part].Merge(times_ns);
  }
}

void RpcTotals::DropHistograms() {
  for (const LatencyField& each : kLatencies) {
    stats::LogHistogram& histogram = this->*each.histogram;
    (moments.*each.moments).Merge(stats::RunningMoments(histogram));
    histogram = stats::LogHistogram();
  }
  time_parts_ns.clear();
}

int64_t RpcTotals::memory_bytes() const {
  int64_t bytes = sizeof(RpcTotals);
  for (const LatencyField& each : kLatencies) {
    bytes += (this->*each.histogram).allocated_bytes();
  }
  for (const auto& [part, times_ns] : time_parts_ns) {
    bytes += static_cast<int64_t>(sizeof(stats::LogHistogram)) +
             times_ns.allocated_bytes();
  }
  return bytes;
}

absl::Status MergeStatistics(const RpcStatistics& from, RpcStatistics& into) {
  RpcTotals totals;
  absl::Status status = totals.Add(into);
  if (status.ok()) status = totals.Add(from);
  if (status.ok()) totals.Encode(into);
  return status;
}

}  // namespace distbench::results
