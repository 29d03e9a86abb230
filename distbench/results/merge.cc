// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/merge.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/results/iteration_logs.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/time_series.h"
#include "google/protobuf/repeated_field.h"

namespace distbench::results {
namespace {

constexpr CounterTexts kStreamTexts = {
    .negative_count =
        "statistics of streams have a negative count; all are at least 0",
    .bad_histogram = "$0 of streams: $1"};

constexpr CounterTexts kPolicyTexts = {
    .negative_count =
        "statistics of policies have a negative count; all are at least 0",
    .bad_histogram = "$0 of policies: $1"};

absl::Status ValidateRpcPiece(const ResultChunk& chunk) {
  if (!chunk.has_peer() || !chunk.has_rpc_index() || chunk.rpc_index() < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a piece of the log of ", chunk.instance(),
                     " does not say which RPC to which peer it is about"));
  }
  const absl::Status status = ValidateStatistics(chunk.rpc_log().statistics());
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("log of ", chunk.instance(), " on RPC ", chunk.rpc_index(),
                     " to ", chunk.peer(), ": ", status.message()));
  }
  return absl::OkStatus();
}

absl::Status ValidateChunk(const ResultChunk& chunk) {
  if (chunk.instance().empty()) {
    return absl::InvalidArgumentError(
        "a piece of a log does not say of which instance it is");
  }
  if (!chunk.instance_log().peer_logs().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the instance log of ", chunk.instance(),
        " has logs on peers, which belong into pieces of their own"));
  }
  return chunk.has_rpc_log() ? ValidateRpcPiece(chunk) : absl::OkStatus();
}

template <typename Item>
void MoveAll(google::protobuf::RepeatedPtrField<Item>& from,
             google::protobuf::RepeatedPtrField<Item>& into) {
  if (into.empty()) {
    into.Swap(&from);
    return;
  }
  into.Reserve(into.size() + from.size());
  for (Item& item : from) into.Add(std::move(item));
  from.Clear();
}

absl::Status MoveStatistics(RpcPerformanceLog& from, RpcPerformanceLog& into) {
  if (!from.has_statistics()) {
    return absl::OkStatus();
  }
  if (into.has_statistics()) {
    return MergeStatistics(from.statistics(), *into.mutable_statistics());
  }
  into.mutable_statistics()->Swap(from.mutable_statistics());
  return absl::OkStatus();
}

absl::Status MergeRpcLog(RpcPerformanceLog& from, RpcPerformanceLog& into) {
  if (absl::Status status = MoveStatistics(from, into); !status.ok()) {
    return status;
  }
  MoveAll(*from.mutable_successful_rpc_samples(),
          *into.mutable_successful_rpc_samples());
  MoveAll(*from.mutable_failed_rpc_samples(),
          *into.mutable_failed_rpc_samples());
  return absl::OkStatus();
}

// The series comes in pieces, and everything else once.
absl::Status MergeActivityLog(ActivityLog from, ActivityLog& into) {
  if (!from.activity_metrics().empty()) {
    into.mutable_activity_metrics()->Swap(from.mutable_activity_metrics());
  }
  if (from.has_duration_ns()) {
    into.mutable_duration_ns()->Swap(from.mutable_duration_ns());
  }
  if (from.has_queueing_ns()) {
    into.mutable_queueing_ns()->Swap(from.mutable_queueing_ns());
  }
  if (!from.has_series()) return absl::OkStatus();
  return MergeActivitySeries(std::move(*from.mutable_series()),
                             *into.mutable_series());
}

absl::Status MergeFault(const FaultLog& from, FaultLog& into) {
  absl::Status status = MergeCounters(
      from, {.negative_count = "has a negative count; all are at least 0"},
      into);
  if (!status.ok()) return status;
  for (const FaultTime& time : from.times()) {
    if (time.end_timestamp_ns() < time.begin_timestamp_ns()) {
      return absl::InvalidArgumentError(
          "has a time that ends before it begins");
    }
    if (into.times_size() < kMaxFaultTimes) *into.add_times() = time;
  }
  return absl::OkStatus();
}

// What the instance did to its clients on purpose.
absl::Status MergeServerLog(ServicePerformanceLog& from,
                            ServicePerformanceLog& into) {
  for (const auto& [name, fault] : from.fault_logs()) {
    const absl::Status status =
        MergeFault(fault, (*into.mutable_fault_logs())[name]);
    if (status.ok()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the log of fault ", name, " ", status.message()));
  }
  from.clear_fault_logs();
  if (!from.has_admission_log()) return absl::OkStatus();
  const AdmissionLog admission = std::move(*from.mutable_admission_log());
  from.clear_admission_log();
  return MergeCounters(
      admission,
      {.negative_count =
           "the log of admission has a negative count; all are at least 0",
       .bad_histogram = "$0 of admission: $1"},
      *into.mutable_admission_log());
}

// Takes all that is added up out of `from`.
absl::Status MergeMeasurements(ServicePerformanceLog& from,
                               ServicePerformanceLog& into) {
  absl::Status status;
  const auto merge_each = [&](auto mutable_map, auto merge) {
    auto& into_map = *(into.*mutable_map)();
    for (auto& [key, value] : *(from.*mutable_map)()) {
      if (status.ok()) status = merge(std::move(value), into_map[key]);
    }
    (from.*mutable_map)()->clear();
  };
  const auto merge_counters = [](const CounterTexts& texts) {
    return [texts](const auto& from, auto& into) {
      return MergeCounters(from, texts, into);
    };
  };
  using Log = ServicePerformanceLog;
  merge_each(&Log::mutable_rpc_time_series, MergeTimeSeries);
  merge_each(&Log::mutable_activity_logs, MergeActivityLog);
  merge_each(&Log::mutable_iteration_logs, MergeIterationLog);
  merge_each(&Log::mutable_offered_loads, MergeOfferedLoad);
  merge_each(&Log::mutable_pooled_statistics, MergeStatistics);
  merge_each(&Log::mutable_stream_statistics, merge_counters(kStreamTexts));
  merge_each(&Log::mutable_policy_statistics, merge_counters(kPolicyTexts));
  return status.ok() ? MergeServerLog(from, into) : status;
}

absl::Status MergeInstanceLog(ServicePerformanceLog& from,
                              ServicePerformanceLog& into) {
  absl::Status status = MergeMeasurements(from, into);
  if (!status.ok()) return status;
  MoveAll(*from.mutable_network_settings(), *into.mutable_network_settings());
  MoveAll(*from.mutable_replay_trace_logs(), *into.mutable_replay_trace_logs());
  // An instance sends everything else once.
  if (from.has_error_dictionary()) into.clear_error_dictionary();
  into.MergeFrom(from);
  return status;
}

}  // namespace

absl::Status MergeChunk(ResultChunk chunk, ServiceLogs& logs) {
  if (absl::Status status = ValidateChunk(chunk); !status.ok()) {
    return status;
  }
  ServicePerformanceLog& log =
      (*logs.mutable_instance_logs())[chunk.instance()];
  if (absl::Status status =
          MergeInstanceLog(*chunk.mutable_instance_log(), log);
      !status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("log of ", chunk.instance(), ": ", status.message()));
  }
  if (!chunk.has_rpc_log()) {
    return absl::OkStatus();
  }
  PeerPerformanceLog& peer_log = (*log.mutable_peer_logs())[chunk.peer()];
  auto& rpc_logs = chunk.is_replay() ? *peer_log.mutable_replay_logs()
                                     : *peer_log.mutable_rpc_logs();
  return MergeRpcLog(*chunk.mutable_rpc_log(), rpc_logs[chunk.rpc_index()]);
}

}  // namespace distbench::results
