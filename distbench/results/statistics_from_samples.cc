#include "distbench/results/statistics_from_samples.h"

#include <algorithm>

#include "distbench/base/saturating_add.h"
#include "distbench/results/rpc_totals.h"

namespace distbench::results {
namespace {

void AddTimeParts(const RpcSample& sample, RpcTotals& totals) {
  auto& parts = totals.time_parts_ns;
  parts[TimePart::kServerQueue].Record(sample.server_queue_ns());
  parts[TimePart::kServerHandler].Record(sample.server_handler_ns());
  parts[TimePart::kNetwork].Record(base::SaturatingSubtract(
      base::SaturatingSubtract(sample.latency_ns(), sample.server_queue_ns()),
      sample.server_handler_ns()));
}

void AddSucceeded(const RpcSample& sample, RpcTotals& totals) {
  RpcCounts counts;
  counts.succeeded_count = 1;
  counts.request_bytes = sample.request_size();
  counts.response_bytes = sample.response_size();
  counts.first_start_timestamp_ns = sample.start_timestamp_ns();
  counts.last_end_timestamp_ns =
      base::SaturatingAdd(sample.start_timestamp_ns(), sample.latency_ns());
  totals.counts.Add(counts);
  totals.service_time_ns.Record(sample.latency_ns());
  if (sample.has_server_queue_ns() && sample.has_server_handler_ns()) {
    AddTimeParts(sample, totals);
  }
  if (sample.has_lateness_ns()) {
    totals.lateness_ns.Record(sample.lateness_ns());
    totals.response_time_ns.Record(
        base::SaturatingAdd(sample.lateness_ns(), sample.latency_ns()));
  }
}

void AddFailed(const RpcSample& sample, RpcTotals& totals) {
  RpcCounts counts;
  counts.failed_count = 1;
  counts.first_start_timestamp_ns = counts.last_end_timestamp_ns =
      sample.start_timestamp_ns();
  totals.counts.Add(counts);
  ++totals.failures_by_error[sample.error_index()];
}

}  // namespace

RpcStatistics StatisticsFromSamples(const RpcPerformanceLog& log) {
  RpcTotals totals;
  for (const RpcSample& sample : log.successful_rpc_samples()) {
    if (sample.warmup()) {
      ++totals.counts.warmup_count;
    } else {
      AddSucceeded(sample, totals);
    }
  }
  for (const RpcSample& sample : log.failed_rpc_samples()) {
    if (sample.warmup()) {
      ++totals.counts.warmup_count;
    } else {
      AddFailed(sample, totals);
    }
  }
  RpcStatistics statistics;
  totals.Encode(statistics);
  return statistics;
}

void AddMissingStatistics(TestResult& result) {
  if (!result.has_service_logs()) {
    return;
  }
  for (auto& [client, service_log] :
       *result.mutable_service_logs()->mutable_instance_logs()) {
    for (auto& [server, peer_log] : *service_log.mutable_peer_logs()) {
      for (auto* logs :
           {peer_log.mutable_rpc_logs(), peer_log.mutable_replay_logs()}) {
        for (auto& [rpc_index, rpc_log] : *logs) {
          if (!rpc_log.has_statistics()) {
            *rpc_log.mutable_statistics() = StatisticsFromSamples(rpc_log);
          }
        }
      }
    }
  }
}

}  // namespace distbench::results
