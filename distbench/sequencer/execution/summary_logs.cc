// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/summary_logs.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "distbench/base/time_units.h"
#include "distbench/results/merge.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/time_series.h"

namespace distbench::sequencer {
namespace {

ResultChunk WithoutSamples(const ResultChunk& chunk) {
  ResultChunk rest;
  rest.set_instance(chunk.instance());
  if (chunk.has_rpc_log()) {
    rest.set_peer(chunk.peer());
    rest.set_rpc_index(chunk.rpc_index());
    rest.set_is_replay(chunk.is_replay());
    if (chunk.rpc_log().has_statistics()) {
      *rest.mutable_rpc_log()->mutable_statistics() =
          chunk.rpc_log().statistics();
    }
  }
  if (chunk.has_instance_log()) {
    *rest.mutable_instance_log() = chunk.instance_log();
    rest.mutable_instance_log()->clear_replay_trace_logs();
  }
  return rest;
}

// ---- Making an instance's log briefer ---------------------------------------

// What was merged is valid, so that it can be added up.

using PooledTotals = std::map<int, results::RpcTotals>;  // by RPC

void ForEachPair(ServicePerformanceLog& log,
                 absl::FunctionRef<void(int rpc, RpcStatistics& pair)> visit) {
  for (auto& [peer, peer_log] : *log.mutable_peer_logs()) {
    for (auto* rpc_logs :
         {peer_log.mutable_rpc_logs(), peer_log.mutable_replay_logs()}) {
      for (auto& [rpc, rpc_log] : *rpc_logs) {
        if (rpc_log.has_statistics()) visit(rpc, *rpc_log.mutable_statistics());
      }
    }
  }
}

PooledTotals PooledOf(const ServicePerformanceLog& log) {
  PooledTotals totals;
  for (const auto& [rpc, statistics] : log.pooled_statistics()) {
    totals[rpc].Add(statistics).IgnoreError();
  }
  return totals;
}

void SetPooled(const PooledTotals& totals, ServicePerformanceLog& log) {
  for (const auto& [rpc, of_rpc] : totals) {
    of_rpc.Encode((*log.mutable_pooled_statistics())[rpc]);
  }
}

void PoolHistograms(ServicePerformanceLog& log) {
  PooledTotals pooled = PooledOf(log);
  ForEachPair(log, [&](int rpc, RpcStatistics& pair) {
    results::RpcTotals totals;
    totals.Add(pair).IgnoreError();
    pooled[rpc].MergeHistograms(totals);
    totals.DropHistograms();
    totals.Encode(pair);
  });
  SetPooled(pooled, log);
}

void PoolPairs(ServicePerformanceLog& log) {
  PooledTotals pooled = PooledOf(log);
  ForEachPair(log, [&](int rpc, RpcStatistics& pair) {
    // The values behind the moments are pooled already.
    pair.clear_service_time_moments();
    pair.clear_response_time_moments();
    pair.clear_lateness_moments();
    pooled[rpc].Add(pair).IgnoreError();
  });
  log.clear_peer_logs();
  SetPooled(pooled, log);
}

template <int kSeconds>
void Widen(ServicePerformanceLog& log) {
  constexpr int64_t kWidthNs = kSeconds * base::kNsPerSecond;
  const auto widen = [](auto& series, auto merge) {
    if (series.intervals().empty() || series.interval_ns() >= kWidthNs) return;
    std::remove_reference_t<decltype(series)> nothing;
    nothing.set_interval_ns(kWidthNs);
    merge(std::move(nothing), series).IgnoreError();
  };
  for (auto& [rpc, series] : *log.mutable_rpc_time_series()) {
    widen(series, results::MergeTimeSeries);
  }
  for (auto& [activity, activity_log] : *log.mutable_activity_logs()) {
    if (!activity_log.has_series()) continue;
    widen(*activity_log.mutable_series(), results::MergeActivitySeries);
  }
}

// In the order of what is missed least.
constexpr void (*kSteps[])(ServicePerformanceLog&) = {
    PoolHistograms, Widen<2>,  Widen<4>,   Widen<8>,
    PoolPairs,      Widen<64>, Widen<4096>};

}  // namespace

absl::Status SummaryLogs::Merge(const ResultChunk& chunk) {
  ResultChunk rest = WithoutSamples(chunk);
  bytes_ += static_cast<int64_t>(rest.SpaceUsedLong());
  absl::Status status = results::MergeChunk(std::move(rest), logs_);
  if (status.ok() && bytes_ > limit_) MakeRoom();
  return status;
}

void SummaryLogs::MakeRoom() {
  const auto measure = [this] {
    bytes_ = static_cast<int64_t>(logs_.SpaceUsedLong());
  };
  measure();  // what was merged takes less than its pieces
  if (bytes_ <= most_bytes_) return;
  is_brief_ = true;
  // For half of it, so that there is not the same to do for each piece.
  for (const auto step : kSteps) {
    for (auto& [instance, log] : *logs_.mutable_instance_logs()) step(log);
    measure();
    if (bytes_ <= most_bytes_ / 2) break;
  }
  limit_ = std::max(most_bytes_, bytes_ + most_bytes_ / 8);
}

}  // namespace distbench::sequencer
