// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Prints how often gates decide rightly and wrongly on simulated runs, in
// percent, as the Markdown table of docs/error_rates.md. With --failures, each
// case of which its rows on failures are the worst:
//
//   bazel run -c opt //bench:gate_error
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "absl/strings/str_format.h"
#include "distbench/report/comparison/testing/simulated_gates.h"

namespace distbench {
namespace {

constexpr int kSingleLookRuns = 8;
constexpr int kMostRuns = 20;

// Of the failures of the base, and of how many more there are at the margin.
constexpr double kBaseFailures[] = {0, 10};
constexpr double kMoreFailures[] = {3.2, 4, 6, 12, 40};

struct Truth {
  const char* name;
  double ratio;
  const char* gate = "p99>5%";
};

std::string PercentsOf(const report::GateOutcomes& outcomes, int gates) {
  const auto percent = [&](int count) { return 100.0 * count / gates; };
  return absl::StrFormat("%.1f | %.1f | %.1f | %.1f", percent(outcomes.passed),
                         percent(outcomes.failed), percent(outcomes.undecided),
                         percent(outcomes.any_passed));
}

void PrintRow(const Truth& truth, int conditions, bool until_decided,
              int gates) {
  const report::GateOutcomes outcomes = report::SimulateGates(
      {.gate = truth.gate,
       .true_ratio = truth.ratio,
       .conditions = conditions,
       .runs = until_decided ? kMostRuns : kSingleLookRuns,
       .until_decided = until_decided,
       .gates = gates});
  std::cout << absl::StreamFormat(
                   "| `%s` | %s | %s | %d | %s | %.1f |", truth.gate,
                   truth.name, until_decided ? "until decided" : "one look",
                   conditions, PercentsOf(outcomes, gates), outcomes.mean_runs)
            << std::endl;
}

// One condition, so that some condition passes if the gate does.
report::GateOutcomes OfFailures(double base, double more, double spread,
                                int runs, int gates) {
  report::GateOutcomes outcomes =
      report::SimulateFailureGates({.base_failures = base,
                                    .more_failures = more,
                                    .spread = spread,
                                    .runs = runs,
                                    .gates = gates});
  outcomes.any_passed = outcomes.passed;
  return outcomes;
}

// The case that passes most often, which no gate should.
void PrintWorstOfFailures(double spread, int runs, int gates) {
  report::GateOutcomes worst;
  for (const double base : kBaseFailures) {
    for (const double more : kMoreFailures) {
      const report::GateOutcomes outcomes =
          OfFailures(base, more, spread, runs, gates);
      if (outcomes.passed >= worst.passed) worst = outcomes;
    }
  }
  std::cout << absl::StreamFormat(
                   "| `failures` | at the margin, runs differ by %.0f %% | one "
                   "look | 1 | %s | %d |",
                   100 * spread, PercentsOf(worst, gates), runs)
            << std::endl;
}

void PrintTable(int gates) {
  std::cout << "| gate | truth | looks | conditions | pass | fail | undecided "
               "| some condition passes | runs of each |\n"
            << "|---|---|---|---|---|---|---|---|---|\n";
  for (const Truth& truth : {Truth{"equal", 1.0},
                             {"10 % worse", 1.10},
                             {"exactly 5 % worse", 1.05}}) {
    for (const int conditions : {1, 10}) {
      for (const bool until_decided : {false, true}) {
        PrintRow(truth, conditions, until_decided, gates);
      }
    }
  }
  // Their bounds are not as wide as those of percentiles.
  for (const Truth& truth : {Truth{"exactly 5 % worse", 1.05, "mean>5%"},
                             {"exactly 5 % worse", 0.95, "rate<-5%"}}) {
    for (const bool until_decided : {false, true}) {
      PrintRow(truth, /*conditions=*/1, until_decided, gates);
    }
  }
  for (const double spread : {0.0, 0.5, 1.0}) {
    for (const int runs : {5, 10}) PrintWorstOfFailures(spread, runs, gates);
  }
}

void PrintFailureTable(int gates) {
  std::cout << "| failures of the base | more at the margin | spread of runs | "
               "runs of each | pass | fail | undecided | some condition passes "
               "|\n"
            << "|---|---|---|---|---|---|---|---|\n";
  for (const double spread : {0.0, 0.5, 1.0}) {
    for (const int runs : {5, 10}) {
      for (const double base : kBaseFailures) {
        for (const double more : kMoreFailures) {
          std::cout << absl::StreamFormat(
                           "| %g | %g | %g | %d | %s |", base, more, spread,
                           runs,
                           PercentsOf(
                               OfFailures(base, more, spread, runs, gates),
                               gates))
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
  bool only_failures = false;
  app.add_flag("--failures", only_failures, "Print each case of failures");
  CLI11_PARSE(app, argc, argv);
  only_failures ? distbench::PrintFailureTable(gates)
                : distbench::PrintTable(gates);
}
