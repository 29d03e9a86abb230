// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Measures how often the confidence intervals of searches on simulated queues
// contain the true capacity, and prints a table in Markdown:
//
//   bazel run //distbench/products/search/testing:search_intervals --
//   --seeds=100

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/products/search/testing/interval_coverage.h"

namespace distbench::search {
namespace {

int Print(const CoverageTiming& timing, int seeds) {
  std::printf(
      "| queue | objective | truth | answers | intervals with the truth | "
      "median width | proven | proven above the truth | median error | mean "
      "traffic |\n|---|---|---|---|---|---|---|---|---|---|\n");
  std::vector<CoverageCase> searches = CoverageCases();
  for (const CoverageCase& search : NearSaturationCases()) {
    searches.push_back(search);
  }
  for (const CoverageCase& search : searches) {
    const absl::StatusOr<Coverage> coverage =
        MeasureCoverage(search, timing, seeds);
    if (!coverage.ok()) {
      std::fprintf(stderr, "%s: %s\n", search.name.c_str(),
                   coverage.status().ToString().c_str());
      return 1;
    }
    std::printf(
        "| %s | `%s` | %.1f/s | %d of %d | %d | %.1f %% | %d | %d | %+.1f %% "
        "| %.0f s |\n",
        search.name.c_str(), search.objective.c_str(), search.truth,
        coverage->answers, coverage->searches, coverage->held,
        100 * coverage->median_width, coverage->proven,
        coverage->wrongly_proven, 100 * coverage->median_error,
        coverage->mean_seconds);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace distbench::search

int main(int argc, char** argv) {
  CLI::App app("Confidence intervals of searches on simulated queues");
  int seeds = 100;
  double probe_seconds = 10;
  double final_seconds = 20;
  app.add_option("--seeds", seeds, "Searches on each queue")
      ->check(CLI::Range(1, 100'000));
  app.add_option("--probe_seconds", probe_seconds, "As --probe_duration")
      ->check(CLI::Range(0.1, 1e4));
  app.add_option("--final_seconds", final_seconds, "As --final_duration")
      ->check(CLI::Range(0.1, 1e4));
  CLI11_PARSE(app, argc, argv);
  return distbench::search::Print({.probe = absl::Seconds(probe_seconds),
                           .final_run = absl::Seconds(final_seconds)},
                          seeds);
}
