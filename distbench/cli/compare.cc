// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/cli/command.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/comparison_flags.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/report/comparison/capacity.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison/gate.h"
#include "distbench/report/comparison_formats/comparison_report.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/measurements/test_run.h"
#include "proto/traffic_config.pb.h"

namespace distbench::cli {

namespace {

struct CompareFlags {
  std::string base;
  std::string next;
  ComparisonFlags comparison;
};

// A misspelt RPC must not look like a condition that new does not meet.
absl::Status CheckRpcsOf(const ComparisonRequest& request,
                         const report::ComparisonReport& report) {
  std::vector<const DistributedSystemDescription*> tests;
  for (const report::ComparisonSide* side : {&report.base, &report.next}) {
    for (const report::TestRun& run : side->runs) {
      tests.push_back(&run.result->traffic_config());
    }
  }
  return report::CheckRpcsOf(request.gates, tests);
}

absl::StatusOr<int> CompareResults(const CompareFlags& flags) {
  const absl::StatusOr<ComparisonRequest> request =
      ReadComparisonFlags(flags.comparison);
  if (!request.ok()) return request.status();
  const absl::StatusOr<std::vector<report::SourcedResults>> base =
      ReadResultFiles({flags.base});
  if (!base.ok()) return base.status();
  const absl::StatusOr<std::vector<report::SourcedResults>> next =
      ReadResultFiles({flags.next});
  if (!next.ok()) return next.status();

  report::ComparisonReport report = {
      .base = {flags.base, report::ListPlainRuns(*base)},
      .next = {flags.next, report::ListPlainRuns(*next)},
      .tests = {},
      .capacities = report::CompareCapacities(
          *base, *next, request->options.allow_different_traffic),
      .allow_undecided = flags.comparison.checks.allow_undecided};
  const absl::Status known = CheckRpcsOf(*request, report);
  if (!known.ok()) return known;
  report.tests =
      report::Compare(report.base.runs, report.next.runs, request->options);
  report.checks = report::JudgeGates(request->gates, report.tests);
  return FinishComparison(report, flags.comparison);
}

}  // namespace

void AddCompareCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command = AddSubcommand(
      app, "compare", "Reports what is better or worse in new results");
  auto flags = std::make_shared<CompareFlags>();
  AddArgument(command, "BASE", flags->base, "RESULT",
              "A result file, or a directory of them");
  Require(command, "BASE");
  AddArgument(command, "NEW", flags->next, "RESULT",
              "The results to compare with BASE");
  Require(command, "NEW");
  AddComparisonFlags(command, flags->comparison);
  SetFooter(
      command,
      "Exits 2 unless every --fail_if passes, 3 if a run failed or its\n"
      "numbers are false. A condition passes if the change, with its\n"
      "uncertainty, lies within the limit; it is undecided if the runs are\n"
      "too few to tell: see run_tests --repeat and ab_test. Searches and NUMA\n"
      "comparisons are compared by the loads that they found.\n\n"
      "Examples:\n"
      "  distbench compare base.pb.gz new.pb.gz\n"
      "  distbench compare base.pb.gz new.pb.gz --fail_if='p99>5%' "
      "--fail_if='rate<-3%'\n"
      "  distbench compare base.pb.gz new.pb.gz --format=html -o changes.html");
  SetBody(command, chosen, [flags] { return CompareResults(*flags); });
}

}  // namespace distbench::cli
