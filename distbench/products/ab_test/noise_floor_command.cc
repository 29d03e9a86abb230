#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/cli/command.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/cli/output.h"
#include "distbench/products/ab_test/commands.h"
#include "distbench/report/comparison/noise_floor.h"
#include "distbench/report/findings/verdict.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::ab_test {

namespace {

absl::StatusOr<int> ShowNoiseFloor(const std::vector<std::string>& paths) {
  const absl::StatusOr<std::vector<report::SourcedResults>> results =
      cli::ReadResultFiles(paths);
  if (!results.ok()) return results.status();
  std::map<std::string, std::vector<report::TestRun>> tests;
  for (const report::TestRun& run : report::ListRuns(*results))
    tests[run.name].push_back(run);
  if (tests.empty())
    return absl::InvalidArgumentError("there is no test in the results");
  int exit_code = report::kExitOk;
  for (const auto& [name, runs] : tests) {
    const absl::StatusOr<std::string> table = report::DescribeNoise(runs);
    if (table.ok()) {
      std::cout << *table;
    } else {
      exit_code = cli::Fail(table.status(), report::kExitRunFailed);
    }
  }
  std::cout << std::flush;
  return exit_code;
}

}  // namespace

void AddNoiseFloorCommand(CLI::App& app, cli::CommandBody& chosen) {
  CLI::App& command = cli::AddSubcommand(
      app, "noise_floor",
      "Shows how much results differ if nothing has changed");
  auto paths = std::make_shared<std::vector<std::string>>();
  cli::AddArguments(command, "RESULT", *paths, "RESULT",
                    "Repeated runs of a test: files, or directories of them");
  cli::Require(command, "RESULT");
  cli::SetFooter(
      command,
      "For each metric: if so many runs are compared with as many others of\n"
      "the same test, 95 % of these comparisons differ by less. The file can\n"
      "then be given to compare and ab_test as --noise_floor. Exits 3 if\n"
      "there are fewer than three runs, or one of them is not valid.\n\n"
      "Examples:\n"
      "  distbench run_tests --test_sequencer=host1:10000 \\\n"
      "      --infile=my_test.config --repeat=10 --no_samples \\\n"
      "      --outfile=noise.pb.gz --binary_output\n"
      "  distbench noise_floor noise.pb.gz");
  cli::SetBody(command, chosen, [paths] { return ShowNoiseFloor(*paths); });
}

}  // namespace distbench::ab_test
