// What becomes of conditions: objectives of runs, gates of comparisons.

#ifndef DISTBENCH_CLI_CHECK_OUTPUT_H_
#define DISTBENCH_CLI_CHECK_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "distbench/report/checks/check.h"

namespace CLI {
class App;
}

namespace distbench {

struct CheckFlags {
  std::string junit;
  std::string markdown;
  bool allow_undecided = false;
};

// --junit, --markdown and --allow_undecided. `flags` must outlive the parsing.
void AddCheckFlags(CLI::App& command, CheckFlags& flags);

// Writes the files that the flags name. The error names the file.
absl::Status WriteChecks(absl::Span<const Check> checks,
                         const CheckFlags& flags);

}  // namespace distbench

#endif  // DISTBENCH_CLI_CHECK_OUTPUT_H_
