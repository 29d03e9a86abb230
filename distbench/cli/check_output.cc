#include "distbench/cli/check_output.h"

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/cli/flags.h"
#include "distbench/cli/report_output.h"

namespace distbench {
namespace {

absl::Status WriteFile(const std::string& path, absl::string_view text) {
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<ReportOutput> output = ReportOutput::Open(path);
  if (!output.ok()) return output.status();
  output->Write(text);
  return output->Finish();
}

}  // namespace

void AddCheckFlags(CLI::App& command, CheckFlags& flags) {
  AddTextFlag(command, "--junit", flags.junit, "FILE",
              "Write the verdicts on all conditions as JUnit XML");
  AddTextFlag(command, "--markdown", flags.markdown, "FILE",
              "Write them as a Markdown table");
  command.add_flag("--allow_undecided", flags.allow_undecided,
                   "Do not exit 2 where the evidence is too thin for a\n"
                   "verdict");
}

absl::Status WriteChecks(absl::Span<const Check> checks,
                         const CheckFlags& flags) {
  const absl::Status status =
      WriteFile(flags.junit, ChecksJunit(checks, flags.allow_undecided));
  return status.ok() ? WriteFile(flags.markdown, ChecksMarkdown(checks))
                     : status;
}

}  // namespace distbench
