// What subcommands write: errors, reports, and what became of conditions.

#ifndef DISTBENCH_CLI_OUTPUT_H_
#define DISTBENCH_CLI_OUTPUT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/results/output_file.h"

namespace CLI {
class App;
}

namespace distbench::cli {

// Prints the error to stderr, and returns `exit_code`.
int Fail(const absl::Status& error, int exit_code);
int Fail(absl::string_view message, int exit_code);

// The destination of a report that is written piece by piece. An empty path
// means stdout.
absl::StatusOr<std::unique_ptr<results::OutputFile>> OpenReport(
    const std::string& path);

// Writes a whole report. An empty path means stdout.
absl::Status WriteReport(const std::string& path, absl::string_view text);

// Where the verdicts on conditions go, and what they are: objectives of runs,
// or gates of comparisons.
struct CheckFlags {
  std::string junit;
  std::string markdown;
  bool allow_undecided = false;
};

// --junit, --markdown and --allow_undecided. `flags` must outlive the parsing.
void AddCheckFlags(CLI::App& command, CheckFlags& flags);

// Writes the files that the flags name. The error names the file.
absl::Status WriteChecks(absl::Span<const report::Check> checks,
                         const CheckFlags& flags);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_OUTPUT_H_
