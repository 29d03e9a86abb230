// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Measures a draw, which engines make once per iteration.

#include <random>
#include <vector>

#include "benchmark/benchmark.h"
#include "distbench/config/distributions/distribution.h"

namespace distbench::config {
namespace {

// The argument is the number of boxes.
void BM_Draw(benchmark::State& state) {
  std::vector<Distribution::Box> boxes;
  for (int i = 0; i < state.range(0); ++i) {
    const Distribution::Range range = {1000 * i, 1000 * i + 999};
    boxes.push_back({1.0 / state.range(0), {{range, range}}});
  }
  const Distribution distribution(1, boxes);
  std::mt19937_64 random(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(distribution.Draw(random));
  }
}
BENCHMARK(BM_Draw)->Arg(1)->Arg(10)->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace distbench::config

BENCHMARK_MAIN();
