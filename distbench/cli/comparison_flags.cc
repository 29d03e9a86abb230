#include "distbench/cli/comparison_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <utility>

#include "absl/status/status.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/cli/output.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/findings/verdict.h"

namespace distbench {

void AddComparisonFlags(CLI::App& command, ComparisonFlags& flags) {
  AddRepeatedFlag(command, "--fail_if", flags.fail_if, "CONDITION",
                  "Exit 2 unless the evidence rules this out:\n"
                  "[RPC:]METRIC>PERCENT%, or <. May be given several times.\n"
                  "METRIC: a percentile such as p99.9, mean, rate or failures");
  AddTextFlag(command, "--noise_floor", flags.noise_floor, "RESULT",
              "Runs of an unchanged test: show how much the same metric\n"
              "differs between groups of them; see distbench noise_floor");
  command.add_flag("--allow_different_traffic", flags.allow_different_traffic,
                   "Compare tests that do not send the same");
  AddCheckFlags(command, flags.checks);
}

absl::StatusOr<ComparisonRequest> ReadComparisonFlags(
    const ComparisonFlags& flags) {
  ComparisonRequest request;
  request.options.allow_different_traffic = flags.allow_different_traffic;
  for (const std::string& text : flags.fail_if) {
    absl::StatusOr<Gate> gate = ParseGate(text);
    if (!gate.ok()) return gate.status();
    auto& metrics = request.options.metrics;
    if (std::find(metrics.begin(), metrics.end(), gate->metric) ==
        metrics.end()) {
      metrics.push_back(gate->metric);
    }
    request.gates.push_back(*std::move(gate));
  }
  if (flags.noise_floor.empty()) return request;
  absl::StatusOr<std::vector<SourcedResults>> noise =
      ReadResultFiles({flags.noise_floor});
  if (!noise.ok()) return noise.status();
  request.noise = *std::move(noise);
  request.options.noise_runs = ListRuns(request.noise);
  return request;
}

int FinishComparison(absl::Span<const TestComparison> comparisons,
                     absl::Span<const Check> checks, const CheckFlags& flags) {
  std::cout << DescribeComparisons(comparisons) << ChecksText(checks)
            << std::flush;
  const absl::Status written = WriteChecks(checks, flags);
  if (!written.ok()) return Fail(written, kExitUsage);
  const bool any_invalid =
      std::any_of(comparisons.begin(), comparisons.end(),
                  [](const TestComparison& test) { return test.is_invalid; });
  if (any_invalid) return kExitRunFailed;
  return AllPass(checks, flags.allow_undecided) ? kExitOk : kExitGateNotMet;
}

}  // namespace distbench
