// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/experiment_display.h"

#include <string>

#include "distbench/products/protection/testing/example_experiment.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

TEST(ExperimentDisplayTest, SaysWhatRunsAndWhatCameOfIt) {
  std::string shown;
  ExperimentDisplay display(
      [&](absl::string_view text) { shown += std::string(text); });
  TestSequenceResults results;
  display.ShowPlan(ExamplePlan("repeat: 2"), results);
  CellRun run = {.count = 10,
                 .stabilise = absl::Seconds(10),
                 .duration = absl::Seconds(45)};
  run.cell.set_controls("off");
  run.cell.set_antagonist("hog");
  run.cell.set_order(2);
  display.Announce(run);
  display.Observe(run, CellOutcome::kRepeated, "it grew");
  run.attempt = 2;
  display.Announce(run);
  display.Observe(run, CellOutcome::kKept, "");
  // Eight runs of 5 + 10 + 20 + 5 s, and two of 20 s.
  EXPECT_EQ(shown,
            "Protection of query: 10 runs, at least 6m. Random order and "
            "traffic: --seed=7\n"
            "run 3 of 10: controls off, hog, repetition 1: 45s\n"
            "run 3 not still, and repeated with more time: it grew\n"
            "run 3 of 10: controls off, hog, repetition 1, attempt 2: 45s\n"
            "run 3 measured\n");
}

TEST(ExperimentDisplayTest, CountsWhatIsLeft) {
  std::string shown;
  ExperimentDisplay display(
      [&](absl::string_view text) { shown += std::string(text); });
  TestSequenceResults results;
  results.add_test_results()->mutable_experiment_cell()->set_controls("off");
  display.ShowPlan(ExamplePlan("repeat: 1"), results);
  EXPECT_EQ(shown,
            "Protection of query: 5 runs, of which 4 are left, at least "
            "2m20s. Random order and traffic: --seed=7\n");
}

}  // namespace
}  // namespace distbench::protection
