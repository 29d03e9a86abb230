#include "distbench/cli/test_output.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <system_error>

#include "distbench/cli/error_output.h"
#include "distbench/cli/flags.h"
#include "distbench/report/verdict.h"
#include "distbench/results/output_file.h"
#include "distbench/results/result_file.h"

namespace distbench {

void AddTestOutputFlags(CLI::App& command, TestOutputFlags& flags) {
  AddTextFlag(command, "--outfile", flags.outfile, "FILE",
              "Where to write all that was measured, compressed\n"
              "if the name ends in .gz; default: nowhere");
  command.add_flag("--binary_output", flags.binary_output,
                   "Write the outfile in binary, not as text");
}

absl::Status CheckOutfile(const TestOutputFlags& flags) {
  if (flags.outfile.empty()) return absl::OkStatus();
  std::error_code ignored;
  const std::filesystem::file_status existing =
      std::filesystem::status(flags.outfile, ignored);
  // Who reads from a pipe takes its being closed for the end.
  if (std::filesystem::is_other(existing)) return absl::OkStatus();
  return OutputFile::Open(flags.outfile).status();
}

int FinishRun(const ConsoleRun& run, const TestOutputFlags& flags) {
  int exit_code = ExitCodeFor(run.results);
  if (!run.status.ok()) exit_code = Fail(run.status, kExitRunFailed);
  if (!flags.outfile.empty() && run.results.test_results_size() > 0) {
    const absl::Status written = WriteResults(
        run.results, flags.outfile,
        flags.binary_output ? ResultEncoding::kBinary : ResultEncoding::kText);
    if (!written.ok()) exit_code = Fail(written, kExitRunFailed);
  }
  const bool refused = !run.traffic_started && !absl::IsCancelled(run.status);
  return refused && exit_code == kExitRunFailed ? kExitUsage : exit_code;
}

}  // namespace distbench
