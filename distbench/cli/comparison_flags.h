// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Flags and output of the subcommands that compare results.

#ifndef DISTBENCH_CLI_COMPARISON_FLAGS_H_
#define DISTBENCH_CLI_COMPARISON_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/cli/command.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison/gate.h"
#include "distbench/report/comparison_formats/comparison_report.h"
#include "distbench/report/measurements/test_run.h"

namespace CLI {
class App;
}

namespace distbench::cli {

struct ComparisonFlags {
  std::string format = "text";
  std::string output;
  std::vector<std::string> fail_if;
  bool allow_different_traffic = false;
  std::string noise_floor;
  CheckFlags checks;
};

// Adds --format, -o, --fail_if, --allow_different_traffic, --noise_floor and
// the flags of AddCheckFlags(). `flags` must outlive the parsing.
void AddComparisonFlags(CLI::App& command, ComparisonFlags& flags);

// What the flags ask for.
struct ComparisonRequest {
  std::vector<report::Gate> gates;

  // Including the gates' metrics. Points into `noise`.
  report::CompareOptions options;
  std::vector<report::SourcedResults> noise;
};

// The error says which flag is wrong, or which file cannot be read.
absl::StatusOr<ComparisonRequest> ReadComparisonFlags(
    const ComparisonFlags& flags);

// Writes the report in the format and to the files that the flags name, and
// returns the ExitCode.
int FinishComparison(const report::ComparisonReport& report,
                     const ComparisonFlags& flags);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_COMPARISON_FLAGS_H_
