// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The ways in which engines wait, on real threads.

#include <memory>

#include "absl/strings/substitute.h"
#include "absl/synchronization/notification.h"
#include "distbench/base/clock.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"
#include "distbench/engine/engine.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

// The CPU time of a delay of 400 ms in an otherwise empty action list.
double CpuSecondsOfADelay(bool spinning) {
  TestSequence sequence;
  *sequence.add_tests() = ParseTest(absl::Substitute(
      R"pb(
        services { name: "lonely" count: 1 }
        default_protocol: "loopback"
        delay_actions_by_spinning: $0
        delay_distribution_configs {
          name: "a_while"
          pmf_points {
            pmf: 1
            data_points { exact: 400000000 }
          }
        }
        action_lists { name: "lonely" action_names: "wait" }
        actions { name: "wait" delay_distribution_name: "a_while" }
      )pb",
      spinning));
  const auto checked = config::CheckTestSequence(std::move(sequence));
  EXPECT_TRUE(checked.ok()) << checked.status();
  absl::Notification finished;
  EngineOptions options;
  options.plan =
      std::make_shared<const config::Plan>(config::Compile(checked->tests(0)));
  options.on_traffic_finished = [&] { finished.Notify(); };
  const auto engine =
      Engine::Create(std::move(options), protocol::MakeLoopbackDriver());
  EXPECT_TRUE(engine.ok()) << engine.status();
  const double before = base::ProcessCpuSeconds();
  (*engine)->Start(base::RealClock().MonotonicNs());
  finished.WaitForNotification();
  return base::ProcessCpuSeconds() - before;
}

TEST(WaitingTest, DelaysBurnCpuOnlyIfTheyAreToldTo) {
  const double asleep = CpuSecondsOfADelay(/*spinning=*/false);
  const double spinning = CpuSecondsOfADelay(/*spinning=*/true);
  EXPECT_LT(asleep, 0.04);
  EXPECT_GT(spinning, 2 * asleep);
}

}  // namespace
}  // namespace distbench::engine
