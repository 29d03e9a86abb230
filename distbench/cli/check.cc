#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/cli/output.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/validate/warnings.h"
#include "distbench/report/findings/verdict.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

namespace {

int CheckTest(const std::string& infile) {
  const absl::StatusOr<TestSequence> tests = LoadAndCheckTests(infile);
  if (!tests.ok()) return Fail(tests.status(), kExitUsage);
  for (const Problem& warning : FindWarnings(*tests)) {
    std::cout << "warning: " << ToString(warning) << '\n';
  }
  std::cout << "Result: " << infile << " parsed successfully." << std::endl;
  return kExitOk;
}

}  // namespace

void AddCheckTestCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* command = app.add_subcommand(
      "check_test", "Lists all problems of a test config without running it");
  auto infile = std::make_shared<std::string>("-");
  AddInfileFlag(*command, *infile);
  command->footer("Example:\n  distbench check_test --infile=my_test.config");
  command->callback(
      [infile, &chosen] { chosen = [infile] { return CheckTest(*infile); }; });
}

}  // namespace distbench
