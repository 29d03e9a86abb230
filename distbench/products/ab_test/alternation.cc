// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/ab_test/alternation.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/comparison/until_decided.h"
#include "distbench/report/measurements/run_outcome.h"

namespace distbench::ab_test {
namespace {

// What a round measured; the second side is empty if the first failed.
struct Round {
  TestSequenceResults base;
  TestSequenceResults next;

  // Why the round does not count; empty if it does.
  std::string problem;
};

// Why the results do not count; empty if they do.
std::string ProblemOf(const TestSequenceResults& results) {
  for (const TestResult& result : results.test_results()) {
    report::TestRun run;
    run.result = &result;
    const std::string reason = report::WhyNotMeasured(*run.result);
    if (!reason.empty()) {
      return absl::StrCat(result.traffic_config().name(), " ", reason);
    }
  }
  return results.test_results().empty() ? "there is no result" : "";
}

absl::Status RunRound(const AbRunner& run, bool base_first, Round& round) {
  std::array<AbSide, 2> order = {AbSide::kBase, AbSide::kNew};
  if (!base_first) std::swap(order[0], order[1]);
  for (const AbSide side : order) {
    TestSequenceResults& results =
        side == AbSide::kBase ? round.base : round.next;
    const absl::Status status = run(side, results);
    const std::string problem =
        status.ok() ? ProblemOf(results) : std::string(status.message());
    if (!problem.empty()) {
      round.problem = absl::StrCat(NameOf(side), ": ", problem);
      return status;
    }
  }
  return absl::OkStatus();
}

void Append(TestSequenceResults from, TestSequenceResults& to) {
  for (TestResult& result : *from.mutable_test_results()) {
    *to.add_test_results() = std::move(result);
  }
}

void LeaveOut(Round round, AbTestResults& results) {
  for (const AbSide side : {AbSide::kBase, AbSide::kNew}) {
    TestSequenceResults& measured =
        side == AbSide::kBase ? round.base : round.next;
    for (TestResult& result : *measured.mutable_test_results()) {
      (*result.mutable_traffic_config()->mutable_attributes())["side"] =
          std::string(NameOf(side));
    }
    Append(std::move(measured), results.left_out);
  }
  results.left_out_reasons.push_back(
      absl::StrCat("an attempt at round ", results.rounds + 1,
                   " was left out: ", round.problem));
}

void Keep(Round round, const AbTestOptions& options, AbTestResults& results) {
  for (TestSequenceResults* measured : {&round.base, &round.next}) {
    for (TestResult& result : *measured->mutable_test_results()) {
      result.mutable_run_info()->set_repetition(results.rounds);
      if (options.until_decided)
        report::MarkUntilDecided(options.rounds, result);
    }
  }
  Append(std::move(round.base), results.base.results);
  Append(std::move(round.next), results.next.results);
  ++results.rounds;
}

void Judge(const AbTestOptions& options, AbTestResults& results) {
  results.comparisons =
      report::Compare(report::ListRuns(absl::MakeConstSpan(&results.base, 1)),
                      report::ListRuns(absl::MakeConstSpan(&results.next, 1)),
                      options.comparison);
  results.checks = report::JudgeGates(options.gates, results.comparisons);
}

absl::Status RunRounds(const AbTestOptions& options, const AbRunner& run,
                       const AbObserver& observe, AbTestResults& results) {
  for (int number = 0; results.rounds < options.rounds; ++number) {
    Round round;
    absl::Status status = RunRound(run, /*base_first=*/number % 2 == 0, round);
    if (round.problem.empty()) {
      Keep(std::move(round), options, results);
    } else {
      LeaveOut(std::move(round), results);
    }
    if (options.until_decided) Judge(options, results);
    status.Update(observe(results));
    if (!status.ok()) return status;
    if (results.left_out_reasons.size() == kMostLeftOutRounds) {
      return absl::AbortedError(absl::StrCat(
          "ended after ", kMostLeftOutRounds,
          " rounds that had to be left out: ", results.left_out_reasons.back(),
          "; find the cause, then start again"));
    }
    if (options.until_decided && results.rounds > 0 &&
        report::AreDecided(results.checks)) {
      break;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view NameOf(AbSide side) {
  return side == AbSide::kBase ? "base" : "new";
}

absl::Status RunAbTest(const AbTestOptions& options, const AbRunner& run,
                       const AbObserver& observe, AbTestResults& results) {
  const absl::Status status = RunRounds(options, run, observe, results);
  Judge(options, results);
  return status;
}

}  // namespace distbench::ab_test
