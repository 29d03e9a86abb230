#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "distbench/results/histogram_proto.h"
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

}  // namespace
}  // namespace distbench::results

BENCHMARK_MAIN();
