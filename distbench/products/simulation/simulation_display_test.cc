// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/simulation_display.h"

#include "distbench/client/testing/progress_display_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using ::testing::EndsWith;

using SimulationDisplayTest = client::ProgressDisplayTest;

TestResult ResultOf(double simulated_seconds) {
  TestResult result;
  result.mutable_simulation()->set_simulated_seconds(simulated_seconds);
  return result;
}

TEST_F(SimulationDisplayTest, FileGetsALineEveryFiveSecondsAndTheEnd) {
  SimulationDisplay display(Options());
  display.ShowStart(1, "incast");
  EXPECT_EQ(TakeOutput(), "[2/3] incast: simulating\n");
  for (int second = 1; second <= 5; ++second) {
    EXPECT_EQ(TakeOutput(), "");
    clock_.Advance(client::kSecondNs);
    display.Show({.simulated_ns = 100'000'000 * second,
                  .succeeded = 1000,
                  .failed = 2,
                  .events = 30'000});
  }
  EXPECT_EQ(TakeOutput(),
            "[2/3] incast: 0.500 s simulated, 1000 RPCs, 2 failed, 30000 "
            "events\n");
  clock_.Advance(client::kSecondNs / 2);
  display.ShowEnd(ResultOf(0.75));
  EXPECT_EQ(TakeOutput(),
            "[2/3] incast: done after 5.5 s, simulated 0.750 s\n");
}

TEST_F(SimulationDisplayTest, TerminalHasOneLineThatFits) {
  client::ProgressDisplayOptions options = TerminalOptions();
  options.columns = 40;
  SimulationDisplay display(options);
  display.ShowStart(0, "incast");
  EXPECT_EQ(TakeOutput(), "\r\x1b[K[1/3] incast: simulating");
  display.Show({.simulated_ns = 1'500'000'000, .succeeded = 123'456});
  EXPECT_EQ(TakeOutput(), "\r\x1b[K[1/3] incast: 1.500 s simulated");
  TestResult failed = ResultOf(1.5);
  failed.mutable_run_info()->set_failure("cancelled by the user");
  display.ShowEnd(failed);
  EXPECT_THAT(TakeOutput(),
              EndsWith("\r\x1b[K[1/3] incast: failed after 0.0 s, simulated "
                       "1.500 s\n"));
}

}  // namespace
}  // namespace distbench::simulation
