#include "distbench/cli/test_input.h"

#include <unistd.h>

#include <iostream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/load/load.h"
#include "distbench/config/validate/check.h"

namespace distbench {

absl::StatusOr<TestSequence> LoadAndCheckTests(const std::string& infile) {
  if (infile == "-" && isatty(STDIN_FILENO)) {
    std::cerr << "Reading tests from standard input; press Ctrl-D to finish"
              << std::endl;
  }
  absl::StatusOr<TestSequence> tests = LoadTestSequence(infile);
  if (!tests.ok()) return tests;
  tests = CheckTestSequence(*std::move(tests));
  if (!tests.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(infile, " has problems:\n", tests.status().message()));
  }
  return tests;
}

}  // namespace distbench
