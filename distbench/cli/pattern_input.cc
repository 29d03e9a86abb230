#include "distbench/cli/pattern_input.h"

#include <iostream>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/cli/test_input.h"
#include "distbench/config/validate/check.h"
#include "test_builder/notes.h"
#include "test_builder/test_list.h"

namespace distbench {
namespace {

absl::StatusOr<TestSequence> BuildPattern(const std::string& pattern) {
  Notes notes;
  TestListRequest request;
  request.configs = {pattern};
  absl::StatusOr<std::vector<DistributedSystemDescription>> tests =
      BuildTests(request, notes);
  if (!tests.ok()) return tests.status();
  for (const std::string& note : notes.all()) std::cerr << note << '\n';
  TestSequence sequence;
  for (DistributedSystemDescription& test : *tests) {
    *sequence.add_tests() = std::move(test);
  }
  return CheckTestSequence(std::move(sequence));
}

}  // namespace

absl::StatusOr<DistributedSystemDescription> LoadOneTest(
    const std::string& pattern, const std::string& infile) {
  absl::StatusOr<TestSequence> tests =
      pattern.empty() ? LoadAndCheckTests(infile) : BuildPattern(pattern);
  if (!tests.ok()) return tests.status();
  if (tests->tests_size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(pattern.empty() ? infile : pattern, " has ",
                     tests->tests_size(), " tests; exactly one is needed"));
  }
  return std::move(*tests->mutable_tests(0));
}

}  // namespace distbench
