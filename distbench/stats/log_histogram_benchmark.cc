// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "benchmark/benchmark.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::stats {
namespace {

// A power of two, so that picking the next value costs next to nothing.
constexpr size_t kValues = 1 << 12;

// Realistic latencies: log-normal around 200 us.
std::vector<int64_t> Latencies() {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> latency(std::log(200'000.0), 0.7);
  std::vector<int64_t> values(kValues);
  for (int64_t& value : values) {
    value = static_cast<int64_t>(latency(random));
  }
  return values;
}

void BM_Record(benchmark::State& state) {
  const std::vector<int64_t> values = Latencies();
  LogHistogram histogram;
  size_t next = 0;
  for (auto _ : state) {
    histogram.Record(values[next++ % kValues]);
  }
  benchmark::DoNotOptimize(histogram.count());
}
BENCHMARK(BM_Record);

// Records into one histogram per peer: more than a few hundred do not fit into
// the cache.
template <size_t kHistograms>
void BM_RecordOfPeers(benchmark::State& state) {
  const std::vector<int64_t> values = Latencies();
  std::vector<LogHistogram> histograms(kHistograms);
  size_t next = 0;
  for (auto _ : state) {
    histograms[next % kHistograms].Record(values[next % kValues]);
    ++next;
  }
  benchmark::DoNotOptimize(histograms.data());
}
BENCHMARK(BM_RecordOfPeers<16>);
BENCHMARK(BM_RecordOfPeers<1024>);

void BM_Merge(benchmark::State& state) {
  LogHistogram from;
  for (int64_t value : Latencies()) {
    from.Record(value);
  }
  LogHistogram into;
  for (auto _ : state) {
    into.Merge(from);
  }
  benchmark::DoNotOptimize(into.count());
}
BENCHMARK(BM_Merge);

void BM_ValueAtQuantile(benchmark::State& state) {
  LogHistogram histogram;
  for (int64_t value : Latencies()) {
    histogram.Record(value);
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(histogram.ValueAtQuantile(0.99));
  }
}
BENCHMARK(BM_ValueAtQuantile);

}  // namespace
}  // namespace distbench::stats

BENCHMARK_MAIN();
