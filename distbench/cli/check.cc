#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/input.h"
#include "distbench/cli/output.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/validate/warnings.h"
#include "distbench/report/findings/findings.h"
#include "proto/traffic_config.pb.h"

namespace distbench::cli {

namespace {

struct CheckCommandFlags {
  std::string infile = "-";
  std::vector<std::string> files;  // instead of it
};

int CheckTest(const std::string& infile) {
  const absl::StatusOr<TestSequence> tests = LoadAndCheckTests(infile);
  if (!tests.ok()) return Fail(tests.status(), report::kExitUsage);
  for (const config::Problem& warning : config::FindWarnings(*tests)) {
    std::cout << "warning: " << config::ToString(warning) << '\n';
  }
  std::cout << "Result: " << infile << " parsed successfully." << std::endl;
  return report::kExitOk;
}

// Checks all of them, whatever is wrong with the first.
int CheckTests(const CheckCommandFlags& flags) {
  if (flags.files.empty()) return CheckTest(flags.infile);
  int exit_code = report::kExitOk;
  for (const std::string& file : flags.files) {
    exit_code = std::max(exit_code, CheckTest(file));
  }
  return exit_code;
}

}  // namespace

void AddCheckTestCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App& command =
      AddSubcommand(app, "check_test",
                    "Lists all problems of a test config without running it");
  auto flags = std::make_shared<CheckCommandFlags>();
  AddInfileFlag(command, flags->infile);
  AddArguments(command, "FILE", flags->files, "FILE",
               "The same as --infile=FILE, of each");
  Exclude(command, "FILE", "--infile");
  SetFooter(command,
            "Examples:\n"
            "  distbench check_test my_test.config\n"
            "  distbench check_test workloads/*.config");
  SetBody(command, chosen, [flags] { return CheckTests(*flags); });
}

}  // namespace distbench::cli
