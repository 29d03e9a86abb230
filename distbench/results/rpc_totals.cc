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

// Without the timestamps, which are extremes.
constexpr FieldMember<RpcCounts> kRpcCountFields[] = {
    {RpcStatistics::kSucceededCountFieldNumber, &RpcCounts::succeeded_count},
    {RpcStatistics::kFailedCountFieldNumber, &RpcCounts::failed_count},
    {RpcStatistics::kWarmupCountFieldNumber, &RpcCounts::warmup_count},
    {RpcStatistics::kRequestBytesFieldNumber, &RpcCounts::request_bytes},
    {RpcStatistics::kResponseBytesFieldNumber, &RpcCounts::response_bytes},
    {RpcStatistics::kDroppedSampleCountFieldNumber,
     &RpcCounts::dropped_sample_count}};

constexpr FieldMember<RpcTotals> kLatencyFields[] = {
    {RpcStatistics::kServiceTimeNsFieldNumber, &RpcTotals::service_time_ns},
    {RpcStatistics::kResponseTimeNsFieldNumber, &RpcTotals::response_time_ns},
    {RpcStatistics::kLatenessNsFieldNumber, &RpcTotals::lateness_ns}};

constexpr FieldMember<LatencyMoments> kLatencyMomentsFields[] = {
    {RpcStatistics::kServiceTimeMomentsFieldNumber,
     &LatencyMoments::service_time_ns},
    {RpcStatistics::kResponseTimeMomentsFieldNumber,
     &LatencyMoments::response_time_ns},
    {RpcStatistics::kLatenessMomentsFieldNumber, &LatencyMoments::lateness_ns}};

constexpr FieldMember<StreamTotals> kStreamFields[] = {
    {StreamStatistics::kStreamCountFieldNumber, &StreamTotals::stream_count},
    {StreamStatistics::kRequestMessagesFieldNumber,
     &StreamTotals::request_messages},
    {StreamStatistics::kResponseMessagesFieldNumber,
     &StreamTotals::response_messages},
    {StreamStatistics::kRequestBytesFieldNumber, &StreamTotals::request_bytes},
    {StreamStatistics::kResponseBytesFieldNumber,
     &StreamTotals::response_bytes},
    {StreamStatistics::kFirstMessageNsFieldNumber,
     &StreamTotals::first_message_ns},
    {StreamStatistics::kGapNsFieldNumber, &StreamTotals::gap_ns},
    {StreamStatistics::kRoundTripNsFieldNumber, &StreamTotals::round_trip_ns},
    {StreamStatistics::kClientBlockedNsFieldNumber,
     &StreamTotals::client_blocked_ns},
    {StreamStatistics::kServerBlockedNsFieldNumber,
     &StreamTotals::server_blocked_ns}};

constexpr FieldMember<PolicyTotals> kPolicyFields[] = {
    {PolicyStatistics::kRequestCountFieldNumber, &PolicyTotals::request_count},
    {PolicyStatistics::kAttemptCountFieldNumber, &PolicyTotals::attempt_count},
    {PolicyStatistics::kRetryCountFieldNumber, &PolicyTotals::retry_count},
    {PolicyStatistics::kHedgeCountFieldNumber, &PolicyTotals::hedge_count},
    {PolicyStatistics::kHedgeWonCountFieldNumber,
     &PolicyTotals::hedge_won_count},
    {PolicyStatistics::kSucceededAttemptCountFieldNumber,
     &PolicyTotals::succeeded_attempt_count},
    {PolicyStatistics::kFailedAttemptCountFieldNumber,
     &PolicyTotals::failed_attempt_count},
    {PolicyStatistics::kAbandonedAttemptCountFieldNumber,
     &PolicyTotals::abandoned_attempt_count},
    {PolicyStatistics::kUncancelledAttemptCountFieldNumber,
     &PolicyTotals::uncancelled_attempt_count},
    {PolicyStatistics::kRefusedByBudgetCountFieldNumber,
     &PolicyTotals::refused_by_budget_count},
    {PolicyStatistics::kRefusedByCircuitBreakerCountFieldNumber,
     &PolicyTotals::refused_by_circuit_breaker_count},
    {PolicyStatistics::kRefusedByLimitCountFieldNumber,
     &PolicyTotals::refused_by_limit_count},
    {PolicyStatistics::kCircuitOpenedCountFieldNumber,
     &PolicyTotals::circuit_opened_count},
    {PolicyStatistics::kNotNeededCountFieldNumber,
     &PolicyTotals::not_needed_count},
    {PolicyStatistics::kQuorumFailedCountFieldNumber,
     &PolicyTotals::quorum_failed_count},
    {PolicyStatistics::kQuorumTimeNsFieldNumber, &PolicyTotals::quorum_time_ns},
    {PolicyStatistics::kAttemptTimeNsFieldNumber,
     &PolicyTotals::attempt_time_ns},
    {PolicyStatistics::kConcurrencyLimitFieldNumber,
     &PolicyTotals::concurrency_limit}};

constexpr CounterTexts kRpcTexts = {
    .negative_count =
        "statistics hold $0, but all their numbers are at least 0",
    .bad_histogram = "$0: $1"};

constexpr CounterTexts kStreamTexts = {
    .negative_count =
        "statistics of streams have a negative count; all are at least 0",
    .bad_histogram = "$0 of streams: $1"};

constexpr CounterTexts kPolicyTexts = {
    .negative_count =
        "statistics of policies have a negative count; all are at least 0",
    .bad_histogram = "$0 of policies: $1"};

const google::protobuf::FieldDescriptor& FieldOf(TimePart part) {
  static constexpr int kNumbers[] = {RpcStatistics::kServerQueueNsFieldNumber,
                                     RpcStatistics::kServerHandlerNsFieldNumber,
                                     RpcStatistics::kNetworkNsFieldNumber};
  return *RpcStatistics::descriptor()->FindFieldByNumber(
      kNumbers[static_cast<int>(part)]);
}

void MoveToMoments(stats::LogHistogram& histogram,
                   stats::RunningMoments& moments) {
  moments.Merge(stats::RunningMoments(histogram));
  histogram = stats::LogHistogram();
}

template <typename Totals, typename Statistics>
absl::Status MergeAs(const Statistics& from, Statistics& into) {
  Totals totals;
  absl::Status status = totals.Add(into);
  if (status.ok()) status = totals.Add(from);
  if (status.ok()) totals.Encode(into);
  return status;
}

}  // namespace

// ---- RPCs -------------------------------------------------------------------

void RpcCounts::Add(const RpcCounts& other) {
  AddMembers(kRpcCountFields, other, *this);
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
  AddFields(kRpcCountFields, statistics, counts);
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
  if (least == 0) return ValidateCounters(statistics, kRpcTexts);
  return absl::InvalidArgumentError(
      absl::Substitute(kRpcTexts.negative_count, least));
}

absl::Status RpcTotals::Add(const RpcStatistics& statistics) {
  if (absl::Status status = ValidateStatistics(statistics); !status.ok()) {
    return status;
  }
  counts.Add(CountsOf(statistics));
  AddFields(kLatencyFields, statistics, *this);
  AddFields(kLatencyMomentsFields, statistics, moments);
  for (const TimePart part : kTimeParts) {
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
  EncodeFields(kRpcCountFields, counts, statistics);
  if (counts.has_timestamps()) {
    statistics.set_first_start_timestamp_ns(counts.first_start_timestamp_ns);
    statistics.set_last_end_timestamp_ns(counts.last_end_timestamp_ns);
  }
  EncodeFields(kLatencyFields, *this, statistics);
  EncodeFields(kLatencyMomentsFields, moments, statistics);
  for (const auto& [part, times_ns] : time_parts_ns) {
    EncodeField(times_ns, FieldOf(part).number(), statistics);
  }
  statistics.mutable_failures_by_error()->insert(failures_by_error.begin(),
                                                 failures_by_error.end());
}

void RpcTotals::MergeHistograms(const RpcTotals& other) {
  AddMembers(kLatencyFields, other, *this);
  for (const auto& [part, times_ns] : other.time_parts_ns) {
    time_parts_ns[part].Merge(times_ns);
  }
}

void RpcTotals::DropHistograms() {
  MoveToMoments(service_time_ns, moments.service_time_ns);
  MoveToMoments(response_time_ns, moments.response_time_ns);
  MoveToMoments(lateness_ns, moments.lateness_ns);
  time_parts_ns.clear();
}

int64_t RpcTotals::memory_bytes() const {
  int64_t bytes = static_cast<int64_t>(sizeof(RpcTotals)) +
                  service_time_ns.allocated_bytes() +
                  response_time_ns.allocated_bytes() +
                  lateness_ns.allocated_bytes();
  for (const auto& [part, times_ns] : time_parts_ns) {
    bytes += static_cast<int64_t>(sizeof(stats::LogHistogram)) +
             times_ns.allocated_bytes();
  }
  return bytes;
}

absl::Status MergeStatistics(const RpcStatistics& from, RpcStatistics& into) {
  return MergeAs<RpcTotals>(from, into);
}

// ---- Streams ----------------------------------------------------------------

void StreamTotals::Merge(const StreamTotals& other) {
  AddMembers(kStreamFields, other, *this);
}

absl::Status StreamTotals::Add(const StreamStatistics& statistics) {
  absl::Status status = ValidateCounters(statistics, kStreamTexts);
  if (status.ok()) AddFields(kStreamFields, statistics, *this);
  return status;
}

void StreamTotals::Encode(StreamStatistics& statistics) const {
  statistics.Clear();
  EncodeFields(kStreamFields, *this, statistics);
}

absl::Status MergeStatistics(const StreamStatistics& from,
                             StreamStatistics& into) {
  return MergeAs<StreamTotals>(from, into);
}

// ---- Policies ---------------------------------------------------------------

void PolicyTotals::Merge(const PolicyTotals& other) {
  AddMembers(kPolicyFields, other, *this);
}

absl::Status PolicyTotals::Add(const PolicyStatistics& statistics) {
  absl::Status status = ValidateCounters(statistics, kPolicyTexts);
  if (status.ok()) AddFields(kPolicyFields, statistics, *this);
  return status;
}

void PolicyTotals::Encode(PolicyStatistics& statistics) const {
  statistics.Clear();
  EncodeFields(kPolicyFields, *this, statistics);
}

absl::Status MergeStatistics(const PolicyStatistics& from,
                             PolicyStatistics& into) {
  return MergeAs<PolicyTotals>(from, into);
}

}  // namespace distbench::results
