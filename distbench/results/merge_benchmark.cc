// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/merge.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/time_series.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::results {
namespace {

constexpr int kIntervalsPerPiece = 100;

RpcTimeSeries Piece(int64_t first) {
  stats::LogHistogram latencies;
  for (int64_t value = 10'000; value < 1'000'000; value += 1'000) {
    latencies.Record(value);
  }
  RpcTimeSeries piece;
  piece.set_interval_ns(1'000'000'000);
  for (int64_t i = first; i < first + kIntervalsPerPiece; ++i) {
    RpcInterval& interval = *piece.add_intervals();
    interval.set_index(i);
    interval.set_succeeded_count(latencies.count());
    EncodeHistogram(latencies, *interval.mutable_service_time_ns());
  }
  return piece;
}

// Merges the series of a few instances, each in as many pieces as the argument
// says, one instance after the other, as results arrive.
void BM_MergePieces(benchmark::State& state) {
  constexpr int kInstances = 2;
  const auto count = static_cast<int>(state.range(0));
  std::vector<RpcTimeSeries> pieces;
  for (int i = 0; i < count; ++i) {
    pieces.push_back(Piece(int64_t{i} * kIntervalsPerPiece));
  }
  for (auto _ : state) {
    RpcTimeSeries into;
    for (int i = 0; i < kInstances; ++i) {
      for (const RpcTimeSeries& piece : pieces) {
        if (!MergeTimeSeries(piece, into).ok()) {
          return state.SkipWithError("not merged");
        }
      }
    }
    benchmark::DoNotOptimize(into.intervals_size());
  }
  state.SetItemsProcessed(state.iterations() * kInstances * count *
                          kIntervalsPerPiece);
}
BENCHMARK(BM_MergePieces)
    ->Arg(1)
    ->Arg(4)
    ->Arg(16)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);

// The statistics of one instance's RPCs to one of its peers.
ResultChunk PairChunk(int peer, bool has_histograms) {
  RpcTotals totals;
  for (int64_t i = 0; i < 100; ++i) totals.service_time_ns.Record(i * i);
  totals.counts.succeeded_count = 100;
  totals.counts.first_start_timestamp_ns = 1;
  totals.counts.last_end_timestamp_ns = 2;
  if (!has_histograms) totals.DropHistograms();
  ResultChunk chunk;
  chunk.set_instance("client/0");
  chunk.set_peer(absl::StrCat("server/", peer));
  chunk.set_rpc_index(0);
  totals.Encode(*chunk.mutable_rpc_log()->mutable_statistics());
  return chunk;
}

// Merges what two workers of an instance send about its peers, of which a large
// clique has thousands.
void BM_MergePairs(benchmark::State& state) {
  constexpr int kWorkers = 2;
  constexpr int kPeers = 1000;
  std::vector<ResultChunk> chunks;
  for (int peer = 0; peer < kPeers; ++peer) {
    chunks.push_back(PairChunk(peer, state.range(0) != 0));
  }
  for (auto _ : state) {
    ServiceLogs logs;
    for (int worker = 0; worker < kWorkers; ++worker) {
      for (const ResultChunk& chunk : chunks) {
        if (!MergeChunk(chunk, logs).ok()) {
          return state.SkipWithError("not merged");
        }
      }
    }
    benchmark::DoNotOptimize(logs.instance_logs_size());
  }
  state.SetItemsProcessed(state.iterations() * kWorkers * kPeers);
}
BENCHMARK(BM_MergePairs)
    ->ArgName("histograms")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace distbench::results

BENCHMARK_MAIN();
