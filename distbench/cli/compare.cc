#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/input.h"
#include "distbench/cli/output.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison/gate.h"
#include "distbench/report/findings/verdict.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/verdicts/check.h"

namespace distbench {

namespace {

struct Flags {
  std::string base;
  std::string next;
  std::vector<std::string> fail_if;
  bool allow_different_traffic = false;
  CheckFlags checks;
};

// Adds the gates' metrics to those that are shown.
CompareOptions OptionsFor(const Flags& flags, const std::vector<Gate>& gates) {
  CompareOptions options;
  options.allow_different_traffic = flags.allow_different_traffic;
  for (const Gate& gate : gates) {
    auto& metrics = options.metrics;
    if (std::find(metrics.begin(), metrics.end(), gate.metric) ==
        metrics.end()) {
      metrics.push_back(gate.metric);
    }
  }
  return options;
}

int CompareResults(const Flags& flags) {
  std::vector<Gate> gates;
  for (const std::string& text : flags.fail_if) {
    absl::StatusOr<Gate> gate = ParseGate(text);
    if (!gate.ok()) return Fail(gate.status(), kExitUsage);
    gates.push_back(*std::move(gate));
  }
  const absl::StatusOr<std::vector<SourcedResults>> base =
      ReadResultFiles({flags.base});
  if (!base.ok()) return Fail(base.status(), kExitUsage);
  const absl::StatusOr<std::vector<SourcedResults>> next =
      ReadResultFiles({flags.next});
  if (!next.ok()) return Fail(next.status(), kExitUsage);

  const std::vector<TestComparison> comparisons =
      Compare(ListRuns(*base), ListRuns(*next), OptionsFor(flags, gates));
  const std::vector<Check> checks = JudgeGates(gates, comparisons);
  std::cout << DescribeComparisons(comparisons) << ChecksText(checks)
            << std::flush;
  const absl::Status written = WriteChecks(checks, flags.checks);
  if (!written.ok()) return Fail(written, kExitUsage);
  const bool any_invalid =
      std::any_of(comparisons.begin(), comparisons.end(),
                  [](const TestComparison& test) { return test.is_invalid; });
  if (any_invalid) return kExitRunFailed;
  return AllPass(checks, flags.checks.allow_undecided) ? kExitOk
                                                       : kExitGateNotMet;
}

}  // namespace

void AddCompareCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* command = app.add_subcommand(
      "compare", "Reports what is better or worse in new results");
  auto flags = std::make_shared<Flags>();
  command
      ->add_option("BASE", flags->base, "A result file, or a directory of them")
      ->required()
      ->option_text(" ");
  command->add_option("NEW", flags->next, "The results to compare with BASE")
      ->required()
      ->option_text(" ");
  command
      ->add_option("--fail_if", flags->fail_if,
                   "Exit 2 unless the evidence rules this out:\n"
                   "[RPC:]METRIC>PERCENT%, or <. May be given several times.\n"
                   "METRIC: a percentile such as p99.9, mean, rate or failures")
      ->type_name("CONDITION")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--allow_different_traffic", flags->allow_different_traffic,
                    "Compare tests that do not send the same");
  AddCheckFlags(*command, flags->checks);
  command->footer(
      "Exits 2 unless every --fail_if passes, 3 if a run failed or its numbers "
      "are\nfalse. A condition passes if the change, with its uncertainty, "
      "lies "
      "within the\nlimit; it is undecided if the runs are too few to tell: see "
      "run_tests --repeat.\n\n"
      "Examples:\n"
      "  distbench compare base.pb.gz new.pb.gz\n"
      "  distbench compare base.pb.gz new.pb.gz --fail_if='p99>5%' "
      "--fail_if='rate<-3%'");
  command->callback([flags, &chosen] {
    chosen = [flags] { return CompareResults(*flags); };
  });
}

}  // namespace distbench
