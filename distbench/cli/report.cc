#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/cli/commands.h"
#include "distbench/cli/error_output.h"
#include "distbench/report/text_summary.h"
#include "distbench/report/verdict.h"
#include "distbench/results/result_file.h"
#include "proto/results.pb.h"

namespace distbench {

namespace {

struct Flags {
  std::string result;
  std::string format = "text";
};

int Report(const Flags& flags) {
  const absl::StatusOr<TestSequenceResults> results = ReadResults(flags.result);
  if (!results.ok()) return Fail(results.status(), kExitUsage);
  for (int i = 0; i < results->test_results_size(); ++i) {
    const TestResult& result = results->test_results(i);
    const std::string& name = result.traffic_config().name();
    std::cout << "Test: "
              << (name.empty() ? absl::StrCat("tests[", i, "]") : name) << '\n';
    for (const std::string& line : SummarizeTest(result)) {
      std::cout << line << '\n';
    }
  }
  std::cout << std::flush;
  return ExitCodeFor(*results);
}

}  // namespace

void AddReportCommand(CLI::App& app, CommandBody& chosen) {
  CLI::App* command =
      app.add_subcommand("report", "Prints the summaries of a result file");
  auto flags = std::make_shared<Flags>();
  command
      ->add_option("RESULT", flags->result,
                   "A result file, text or binary, compressed or not")
      ->required()
      ->option_text(" ");
  command->add_option("--format", flags->format, "How to print them: text")
      ->check([](const std::string& format) {
        return format == "text"
                   ? ""
                   : "there is no format \"" + format + "\" yet, only text";
      })
      ->type_name("FORMAT")
      ->capture_default_str();
  command->footer("Example:\n  distbench report results/my_test.pb.gz");
  command->callback(
      [flags, &chosen] { chosen = [flags] { return Report(*flags); }; });
}

}  // namespace distbench
