#include "test_builder/building/check_tests.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/config/validate/check.h"

namespace distbench::test_builder {
namespace {

// Listing more would not help.
constexpr size_t kMaxProblems = 20;

// Always the same, because tests are checked one at a time.
constexpr absl::string_view kPathPrefix = "tests[0].";

void AddProblems(const DistributedSystemDescription& test,
                 const absl::Status& status,
                 std::vector<std::string>& problems) {
  for (absl::string_view line : absl::StrSplit(status.message(), '\n')) {
    problems.push_back(
        absl::StrCat(test.name(), ": ", absl::StripPrefix(line, kPathPrefix)));
  }
}

// The action's warm-up in nanoseconds, as far as the config determines it: how
// fast a closed loop iterates is not known in advance.
double WarmupNs(const Iterations& iterations) {
  const double per_second = config::MeanRatePerSecond(iterations);
  const double iterations_ns =
      per_second > 0 ? 1e9 / per_second *
                           static_cast<double>(iterations.warmup_iterations())
                     : 0;
  return std::max(static_cast<double>(iterations.warmup_ns()), iterations_ns);
}

void NoteLongWarmups(const DistributedSystemDescription& test, Notes& notes) {
  for (const Action& action : test.actions()) {
    const Iterations& iterations = action.iterations();
    const double duration_ns =
        static_cast<double>(iterations.max_duration_us()) * 1e3;
    if (iterations.has_max_duration_us() &&
        WarmupNs(iterations) >= duration_ns) {
      notes.Add(absl::StrCat(
          test.name(), ": nothing is measured, as the warm-up takes ",
          WarmupNs(iterations) / 1e9, " s of ", duration_ns / 1e9,
          " s; make the test longer with -t"));
    }
  }
}

}  // namespace

absl::Status CheckTests(absl::Span<const DistributedSystemDescription> tests,
                        Notes& notes) {
  std::vector<std::string> problems;
  for (const DistributedSystemDescription& test : tests) {
    TestSequence sequence;
    *sequence.add_tests() = test;
    config::Canonicalize(sequence);
    NoteLongWarmups(sequence.tests(0), notes);
    const absl::Status status =
        config::CheckTestSequence(std::move(sequence)).status();
    if (!status.ok()) AddProblems(test, status, problems);
  }
  if (problems.empty()) return absl::OkStatus();
  if (problems.size() > kMaxProblems) {
    const size_t dropped = problems.size() - kMaxProblems;
    problems.resize(kMaxProblems);
    problems.push_back(absl::StrCat("and ", dropped, " more problems"));
  }
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

}  // namespace distbench::test_builder
