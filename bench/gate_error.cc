// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Prints how often gates decide rightly and wrongly on simulated runs, as
// Markdown tables, of which docs/reports.md has the main figures:
//
//   bazel run -c opt //bench:gate_error
#include <CLI/CLI.hpp>
#include <iostream>

#include "absl/strings/str_format.h"
#include "distbench/report/comparison/testing/simulated_gates.h"

namespace distbench {
namespace {

constexpr int kSingleLookRuns = 8;
constexpr int kMostRuns = 20;

struct Truth {
  const char* name;
  double ratio;
};

void PrintRow(const Truth& truth, int conditions, bool until_decided,
              int gates) {
  const report::GateOutcomes outcomes = report::SimulateGates(
      {.true_ratio = truth.ratio,
       .conditions = conditions,
       .runs = until_decided ? kMostRuns : kSingleLookRuns,
       .until_decided = until_decided,
       .gates = gates});
  std::cout << absl::StreamFormat(
                   "| %s | %s | %d | %d | %d | %d | %d | %.1f |", truth.name,
                   until_decided ? "until decided" : "one look", conditions,
                   outcomes.passed, outcomes.failed, outcomes.undecided,
                   outcomes.any_passed, outcomes.mean_runs)
            << std::endl;
}

void PrintTable(int gates) {
  std::cout << "| truth | looks | conditions | pass | fail | undecided | some "
               "condition passed | runs of each |\n"
            << "|---|---|---|---|---|---|---|---|\n";
  for (const Truth& truth : {Truth{"equal", 1.0},
                             {"10 % worse", 1.10},
                             {"exactly 5 % worse", 1.05}}) {
    for (const int conditions : {1, 10}) {
      for (const bool until_decided : {false, true}) {
        PrintRow(truth, conditions, until_decided, gates);
      }
    }
  }
}

void PrintFailureTable(int gates) {
  std::cout << "| failures of the base | more at the margin | spread of runs | "
               "runs of each | pass | fail | undecided |\n"
            << "|---|---|---|---|---|---|---|\n";
  for (const double spread : {0.0, 0.5}) {
    for (const int runs : {5, 10}) {
      for (const double base : {0.0, 10.0}) {
        for (const double more : {3.2, 4.0, 6.0, 12.0, 40.0}) {
          const report::GateOutcomes outcomes =
              report::SimulateFailureGates({.base_failures = base,
                                            .more_failures = more,
                                            .spread = spread,
                                            .runs = runs,
                                            .gates = gates});
          std::cout << absl::StreamFormat(
                           "| %g | %g | %g | %d | %d | %d | %d |", base, more,
                           spread, runs, outcomes.passed, outcomes.failed,
                           outcomes.undecided)
                    << std::endl;
        }
      }
    }
  }
}

}  // namespace
}  // namespace distbench

int main(int argc, char** argv) {
  CLI::App app("Error rates of gates on simulated runs");
  int gates = 1000;
  app.add_option("--gates", gates, "Simulated gates per row")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  distbench::PrintFailureTable(gates);
  std::cout << "\n";
  distbench::PrintTable(gates);
}
