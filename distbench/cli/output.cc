#include "distbench/cli/output.h"

#include <cerrno>
#include <iostream>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/cli/flags.h"

namespace distbench::cli {

int Fail(const absl::Status& error, int exit_code) {
  return Fail(error.message(), exit_code);
}

int Fail(absl::string_view message, int exit_code) {
  std::cerr << "distbench: " << message << std::endl;
  return exit_code;
}

absl::StatusOr<ReportOutput> ReportOutput::Open(const std::string& path) {
  const std::string target = path.empty() ? "/dev/stdout" : path;
  absl::StatusOr<std::unique_ptr<results::OutputFile>> file =
      results::OutputFile::Open(target);
  if (!file.ok()) return file.status();
  return ReportOutput(target, *std::move(file));
}

void ReportOutput::Write(absl::string_view bytes) {
  if (status_.ok() && !base::WriteAll(file_->fd(), bytes)) {
    status_ = results::WriteError(path_, errno);
  }
}

absl::Status ReportOutput::Finish() {
  if (!status_.ok()) return status_;
  return file_->Commit();
}

absl::Status WriteReport(const std::string& path, absl::string_view text) {
  absl::StatusOr<ReportOutput> output = ReportOutput::Open(path);
  if (!output.ok()) return output.status();
  output->Write(text);
  return output->Finish();
}

void AddCheckFlags(CLI::App& command, CheckFlags& flags) {
  AddTextFlag(command, "--junit", flags.junit, "FILE",
              "Write the verdicts on all conditions as JUnit XML");
  AddTextFlag(command, "--markdown", flags.markdown, "FILE",
              "Write them as a Markdown table");
  AddSwitch(command, "--allow_undecided", flags.allow_undecided,
            "Do not exit 2 where the evidence is too thin for a\n"
            "verdict");
}

absl::Status WriteChecks(absl::Span<const report::Check> checks,
                         const CheckFlags& flags) {
  absl::Status status;
  if (!flags.junit.empty()) {
    status = WriteReport(flags.junit,
                         report::ChecksJunit(checks, flags.allow_undecided));
  }
  if (status.ok() && !flags.markdown.empty()) {
    status = WriteReport(flags.markdown, report::ChecksMarkdown(checks));
  }
  return status;
}

}  // namespace distbench::cli
