// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Prints the tables of docs/products/simulation.md that compare simulated
// queues with theory: means over several seeds, with 95 % confidence intervals.
//
//   bazel run //distbench/products/simulation/cluster/testing:theory_table

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "distbench/products/simulation/cluster/testing/queues.h"
#include "distbench/stats/run_interval.h"

namespace distbench::simulation {
namespace {

constexpr double kLoads[] = {0.3, 0.6, 0.9};
constexpr int kSeeds = 8;
constexpr int64_t kCount = 200'000;  // for each seed
constexpr double kConfidence = 0.95;

// A formula's value, and the simulated one with its interval.
std::string Cells(double theory, const std::vector<double>& simulated) {
  const auto interval = stats::IntervalOfMean(simulated, kConfidence);
  return absl::StrFormat(" %s | %.3f – %.3f |",
                         theory == 0 ? "–" : absl::StrFormat("%.3f", theory),
                         interval->lower, interval->upper);
}

void PrintQueues() {
  std::puts(
      "| queue | load | rate | simulated | mean | simulated | p50 | simulated "
      "| p99 | simulated |\n"
      "|---|---|---|---|---|---|---|---|---|---|");
  for (const SimulatedQueue& queue : QueuesOfTheory()) {
    for (double load : kLoads) {
      std::vector<double> rates, means, medians, tails;
      for (int seed = 1; seed <= kSeeds; ++seed) {
        const QueueFigures figures = Simulate(queue, load, kCount, seed);
        rates.push_back(figures.rate);
        means.push_back(figures.response.mean);
        medians.push_back(figures.response.p50);
        tails.push_back(figures.response.p99);
      }
      const QueueTheory theory = TheoryOf(queue, load);
      std::puts(absl::StrFormat("| %s | %.1f |%s%s%s%s", queue.name, load,
                                Cells(load, rates), Cells(theory.mean, means),
                                Cells(theory.p50, medians),
                                Cells(theory.p99, tails))
                    .c_str());
      std::fflush(stdout);
    }
  }
}

void PrintForkJoins() {
  std::puts(
      "\n| queues | load | lower bound | upper bound | formula | simulated |\n"
      "|---|---|---|---|---|---|");
  for (int servers : {2, 4, 16}) {
    for (double load : kLoads) {
      std::vector<double> means;
      for (int seed = 1; seed <= kSeeds; ++seed) {
        means.push_back(SimulateForkJoin(servers, load, kCount / 4, seed));
      }
      std::puts(absl::StrFormat("| %d | %.1f | %.3f | %.3f |%s", servers, load,
                                ForkJoinLowerBound(load),
                                ForkJoinUpperBound(load, servers),
                                Cells(ForkJoin(load, servers), means))
                    .c_str());
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace distbench::simulation

int main() {
  distbench::simulation::PrintQueues();
  distbench::simulation::PrintForkJoins();
}
