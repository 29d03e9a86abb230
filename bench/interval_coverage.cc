// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Prints how often the 95 % intervals of objectives contain the truth of
// simulated runs, as the Markdown table of docs/error_rates.md:
//
//   bazel run -c opt //bench:interval_coverage
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "distbench/report/objectives/testing/simulated_runs.h"

namespace distbench {
namespace {

constexpr int kSeconds[] = {5, 10, 30, 60};

// "95.1", or "(95.1)" if the intervals say that they are of independent values.
std::string CellText(const report::Coverage& coverage, int runs) {
  return coverage.of_independent > 0
             ? absl::StrFormat("(%.1f)",
                               100.0 * coverage.contained_by_these / runs)
             : absl::StrFormat("%.1f", 100.0 * coverage.contained / runs);
}

// The name of the metric of an objective.
std::string MetricOf(const std::string& objective) {
  return objective.substr(0, objective.find_first_of("<>"));
}

void PrintTable(int runs) {
  const std::vector<std::string> objectives = report::SimulatedObjectives();
  std::cout << "| RPCs | seconds |";
  for (const std::string& objective : objectives) {
    std::cout << " " << MetricOf(objective) << " |";
  }
  std::cout << "\n|---|---|";
  for (size_t i = 0; i < objectives.size(); ++i) std::cout << "---|";
  std::cout << "\n";
  for (const bool is_independent : {true, false}) {
    for (const int seconds : kSeconds) {
      std::cout << (is_independent ? "| independent" : "| dependent") << " | "
                << seconds << " |";
      const report::SimulatedRun run = {.seconds = seconds,
                                        .is_independent = is_independent};
      for (const report::Coverage& coverage :
           report::CoverageOfObjectives(run, objectives, runs)) {
        std::cout << " " << CellText(coverage, runs) << " |";
      }
      std::cout << std::endl;
    }
  }
}

}  // namespace
}  // namespace distbench

int main(int argc, char** argv) {
  CLI::App app("Coverage of the intervals of objectives on simulated runs");
  int runs = 1000;
  app.add_option("--runs", runs, "Simulated runs per row")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  distbench::PrintTable(runs);
}
