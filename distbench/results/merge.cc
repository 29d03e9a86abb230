#include "distbench/results/merge.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/results/activity_series.h"
#include "distbench/results/policy_totals.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/server_log.h"
#include "distbench/results/stream_totals.h"
#include "distbench/results/time_series.h"
#include "google/protobuf/repeated_field.h"

namespace distbench::results {
namespace {

using Samples = google::protobuf::RepeatedPtrField<RpcSample>;

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

void MoveSamples(Samples& from, Samples& into) {
  if (into.empty()) {
    into.Swap(&from);
    return;
  }
  into.Reserve(into.size() + from.size());
  for (RpcSample& sample : from) {
    into.Add(std::move(sample));
  }
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
  MoveSamples(*from.mutable_successful_rpc_samples(),
              *into.mutable_successful_rpc_samples());
  MoveSamples(*from.mutable_failed_rpc_samples(),
              *into.mutable_failed_rpc_samples());
  return absl::OkStatus();
}

// The series comes in pieces, and everything else once.
absl::Status MergeActivityLog(ActivityLog& from, ActivityLog& into) {
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

absl::Status MergeMeasurements(ServicePerformanceLog& from,
                               ServicePerformanceLog& into) {
  for (auto& [rpc_index, series] : *from.mutable_rpc_time_series()) {
    absl::Status status = MergeTimeSeries(
        std::move(series), (*into.mutable_rpc_time_series())[rpc_index]);
    if (!status.ok()) return status;
  }
  for (auto& [name, log] : *from.mutable_activity_logs()) {
    absl::Status status =
        MergeActivityLog(log, (*into.mutable_activity_logs())[name]);
    if (!status.ok()) return status;
  }
  for (const auto& [rpc_index, load] : from.offered_loads()) {
    absl::Status status =
        MergeOfferedLoad(load, (*into.mutable_offered_loads())[rpc_index]);
    if (!status.ok()) return status;
  }
  for (const auto& [rpc_index, statistics] : from.pooled_statistics()) {
    absl::Status status = MergeStatistics(
        statistics, (*into.mutable_pooled_statistics())[rpc_index]);
    if (!status.ok()) return status;
  }
  for (const auto& [rpc_index, statistics] : from.stream_statistics()) {
    absl::Status status = MergeStreamStatistics(
        statistics, (*into.mutable_stream_statistics())[rpc_index]);
    if (!status.ok()) return status;
  }
  for (const auto& [rpc_index, statistics] : from.policy_statistics()) {
    absl::Status status = MergePolicyStatistics(
        statistics, (*into.mutable_policy_statistics())[rpc_index]);
    if (!status.ok()) return status;
  }
  return MergeServerLog(from, into);
}

void SetInstanceLog(ServicePerformanceLog& from, ServicePerformanceLog& into) {
  if (from.has_error_dictionary()) {
    into.mutable_error_dictionary()->Swap(from.mutable_error_dictionary());
  }
  if (from.has_engine_error_message()) {
    into.set_engine_error_message(from.engine_error_message());
  }
  if (from.has_traffic_start_timestamp_ns()) {
    into.set_traffic_start_timestamp_ns(from.traffic_start_timestamp_ns());
  }
  if (from.has_measurements_end_timestamp_ns()) {
    into.set_measurements_end_timestamp_ns(
        from.measurements_end_timestamp_ns());
  }
  for (const auto& [name, value] : from.driver_counters()) {
    (*into.mutable_driver_counters())[name] = value;
  }
  for (NetworkSettingProof& proof : *from.mutable_network_settings()) {
    into.mutable_network_settings()->Add(std::move(proof));
  }
  for (RpcReplayTraceLog& log : *from.mutable_replay_trace_logs()) {
    into.mutable_replay_trace_logs()->Add(std::move(log));
  }
}

}  // namespace

absl::Status MergeStatistics(const RpcStatistics& from, RpcStatistics& into) {
  RpcTotals totals;
  absl::Status status = totals.Add(into);
  if (status.ok()) status = totals.Add(from);
  if (status.ok()) totals.Encode(into);
  return status;
}

absl::Status MergeChunk(ResultChunk chunk, ServiceLogs& logs) {
  if (absl::Status status = ValidateChunk(chunk); !status.ok()) {
    return status;
  }
  ServicePerformanceLog& log =
      (*logs.mutable_instance_logs())[chunk.instance()];
  SetInstanceLog(*chunk.mutable_instance_log(), log);
  if (absl::Status status =
          MergeMeasurements(*chunk.mutable_instance_log(), log);
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
