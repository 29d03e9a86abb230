// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Prints how often instances are accused in simulated tests, as the Markdown
// tables of docs/products/blame.md:
//
//   bazel run -c opt //distbench/products/blame/testing:accusation_table
#include <CLI/CLI.hpp>
#include <iostream>

#include "absl/strings/str_format.h"
#include "distbench/products/blame/testing/accusations.h"

namespace distbench::blame {
namespace {

void PrintEquals(int tests) {
  std::cout << "| handlers ask, of equals | straggler | would help | any |\n"
            << "|---|---|---|---|\n";
  for (const AccusationCase& simulated : CasesOfEquals()) {
    const Accusations counts = CountAccusations(simulated, tests);
    std::cout << absl::StreamFormat("| %s | %d | %d | %d |", simulated.name,
                                    counts.false_stragglers,
                                    counts.false_what_ifs,
                                    counts.falsely_accused)
              << std::endl;
  }
}

void PrintSlowInstances(int tests) {
  std::cout << "| handlers ask, and slow is | straggler | would help | any | "
               "others accused |\n"
            << "|---|---|---|---|---|\n";
  for (const AccusationCase& simulated : CasesOfSlowInstances()) {
    const Accusations counts = CountAccusations(simulated, tests);
    std::cout << absl::StreamFormat("| %s | %d | %d | %d | %d |",
                                    simulated.name, counts.found_as_straggler,
                                    counts.found_by_what_if, counts.found,
                                    counts.falsely_accused)
              << std::endl;
  }
}

}  // namespace
}  // namespace distbench::blame

int main(int argc, char** argv) {
  CLI::App app("How often blame accuses instances of simulated tests");
  int tests = 60;
  app.add_option("--tests", tests, "Tests of each kind")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  distbench::blame::PrintEquals(tests);
  std::cout << "\n";
  distbench::blame::PrintSlowInstances(tests);
  return 0;
}
