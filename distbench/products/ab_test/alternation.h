// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs base and new in turn, and compares them.

#ifndef DISTBENCH_PRODUCTS_AB_TEST_ALTERNATION_H_
#define DISTBENCH_PRODUCTS_AB_TEST_ALTERNATION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison/gate.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/verdicts/check.h"
#include "proto/results.pb.h"

namespace distbench::ab_test {

enum class AbSide { kBase, kNew };

// Returns "base" or "new".
absl::string_view NameOf(AbSide side);

struct AbTestOptions {
  std::vector<report::Gate> gates = {};
  report::CompareOptions comparison = {};

  // Rounds to run or, until_decided, the most rounds: from kFirstLook to
  // kMaxLooks.
  int rounds = 10;

  // Look at the gates after each round from kFirstLook on, and end when they
  // are decided. Their bounds are wider for it.
  bool until_decided = false;
};

// Ends an A/B test: so many rounds were left out.
inline constexpr int kMostLeftOutRounds = 3;

struct AbTestResults {
  // The runs of all rounds that count, numbered as repetitions. If they were
  // repeated until decided, they say so (MarkUntilDecided()), so that
  // Compare() of them later gives the same verdicts.
  report::SourcedResults base = {"base", {}};
  report::SourcedResults next = {"new", {}};
  int rounds = 0;

  // The runs of rounds that do not count, because a run failed, is invalid or
  // was cut off; and a sentence about each of these rounds.
  TestSequenceResults left_out;
  std::vector<std::string> left_out_reasons;

  std::vector<report::TestComparison> comparisons;
  std::vector<report::Check> checks;
};

// Runs the tests of a side once. A failed test is in the results, with its
// failure. An error ends the A/B test, and `results` then holds what was
// measured.
using AbRunner =
    std::function<absl::Status(AbSide side, TestSequenceResults& results)>;

// Called after each round. An error ends the A/B test.
using AbObserver = std::function<absl::Status(const AbTestResults& results)>;

// Each round runs base and new once, in an order that changes from round to
// round, so that slow changes of the hosts affect both alike. A round that does
// not count is repeated. The verdicts are about the rounds that count, also
// after an error: that of a callback, or ABORTED after kMostLeftOutRounds.
absl::Status RunAbTest(const AbTestOptions& options, const AbRunner& run,
                       const AbObserver& observe, AbTestResults& results);

}  // namespace distbench::ab_test

#endif  // DISTBENCH_PRODUCTS_AB_TEST_ALTERNATION_H_
