// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The cost of recording one RPC, which must stay below 100 ns in total. Time
// passes as it would at 100000 RPCs per second, so that the change of the
// second is included.

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "benchmark/benchmark.h"
#include "distbench/engine/recording/recorder.h"
#include "distbench/stats/recent_intervals.h"

namespace distbench::engine {
namespace {

constexpr int64_t kGapNs = 10'000;
constexpr size_t kValues = 1 << 12;

// Realistic latencies: log-normal around 200 us.
std::vector<int64_t> Latencies() {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> latency(std::log(200'000.0), 0.7);
  std::vector<int64_t> values(kValues);
  for (int64_t& value : values) value = static_cast<int64_t>(latency(random));
  return values;
}

// Arguments: number of peers; 1 for an open loop.
void BM_Record(benchmark::State& state) {
  const std::vector<int64_t> latencies = Latencies();
  const int peers = static_cast<int>(state.range(0));
  stats::RecentIntervals recent;
  Recorder recorder({.peer_count = peers,
                     .rpc_count = 1,
                     .sample_memory_bytes = 1 << 20,
                     .unix_offset_ns = 1'700'000'000'000'000'000,
                     .seed = 1},
                    &recent);
  Sample sample;
  sample.open_loop = state.range(1) != 0;
  int64_t done_ns = 0;
  size_t next = 0;
  for (auto _ : state) {
    done_ns += kGapNs;
    sample.peer = static_cast<int32_t>(next % peers);
    sample.service_time_ns = latencies[next % kValues];
    sample.sent_ns = done_ns - sample.service_time_ns;
    sample.lateness_ns = latencies[(next + kValues / 2) % kValues] / 16;
    ++next;
    recorder.AddSample(/*kept=*/true) = sample;
  }
}
BENCHMARK(BM_Record)
    ->ArgNames({"peers", "open_loop"})
    ->Args({1, 0})
    ->Args({1, 1})
    ->Args({100, 1});

}  // namespace
}  // namespace distbench::engine

BENCHMARK_MAIN();
