// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> WarningsOf(const std::string& iterations,
                                    const std::string& more = "") {
  const auto parsed = ParseTestSequence(
      absl::StrCat(R"pb(
                     tests { services { name: "client" count: 1 }
                             services { name: "server" count: 1 }
                             payload_descriptions { name: "small" size: 16 }
                             rpc_descriptions {
                               name: "ping"
                               client: "client"
                               server: "server"
                               request_payload_name: "small"
                             }
                             action_lists { name: "client" action_names: "run" }
                             action_lists { name: "ping" }
                             actions { name: "run" rpc_name: "ping" iterations {
                   )pb",
                   iterations, "} }", more, "}"),
      "test");
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  const auto checked = CheckTestSequence(*parsed);
  EXPECT_TRUE(checked.ok()) << checked.status();
  std::vector<std::string> texts;
  if (!checked.ok()) return texts;
  for (const Problem& warning : FindWarnings(*checked)) {
    texts.push_back(ToString(warning));
  }
  return texts;
}

TEST(WarningsTest, AUsualTestHasNone) {
  EXPECT_THAT(WarningsOf("max_iteration_count: 100 warmup_iterations: 10"),
              IsEmpty());
  EXPECT_THAT(
      WarningsOf("open_loop_interval_ns: 1000000 max_duration_us: 1000000"),
      IsEmpty());
}

TEST(WarningsTest, TellsWhatNothingUses) {
  EXPECT_THAT(
      WarningsOf("max_iteration_count: 1", R"pb(
        services { name: "idle" count: 1 }
        payload_descriptions { name: "large" size: 1000 }
        rpc_descriptions { name: "pong" client: "client" server: "server" }
        action_lists { name: "pong" action_names: "work" }
        actions { name: "work" activity_config_name: "spin" }
        activity_configs {
          name: "spin"
          activity_settings { name: "activity_func" string_value: "ConsumeCpu" }
        })pb"),
      ElementsAre(HasSubstr("tests[0].services[\"idle\"]: nothing"),
                  HasSubstr("payload_descriptions[\"large\"]"),
                  HasSubstr("rpc_descriptions[\"pong\"]"),
                  HasSubstr("action_lists[\"pong\"]"),
                  HasSubstr("actions[\"work\"]"),
                  HasSubstr("activity_configs[\"spin\"]")));
}

TEST(WarningsTest, TellsOfAWarmUpAsLongAsTheAction) {
  EXPECT_THAT(WarningsOf("max_iteration_count: 10 warmup_iterations: 10"),
              ElementsAre(HasSubstr("[\"run\"].iterations: the warm-up")));
  EXPECT_THAT(WarningsOf("max_iteration_count: 10 warmup_iterations: 9"),
              IsEmpty());
  EXPECT_THAT(WarningsOf("max_duration_us: 1000 warmup_ns: 1000000"),
              ElementsAre(HasSubstr("the warm-up")));
  EXPECT_THAT(WarningsOf("max_duration_us: 1000 warmup_ns: 999000"), IsEmpty());
  const std::string open_loop =
      "open_loop_interval_ns: 1000000 max_duration_us: 100000 ";
  // Number 100 is due just at the end, and measured.
  EXPECT_THAT(WarningsOf(open_loop + "warmup_iterations: 100"),
              ElementsAre(HasSubstr("little or nothing of it is measured")));
  EXPECT_THAT(WarningsOf(open_loop + "warmup_iterations: 99"), IsEmpty());
}

TEST(WarningsTest, TellsOfALoopWithoutEnd) {
  EXPECT_THAT(WarningsOf("open_loop_interval_ns: 1000000"),
              ElementsAre(HasSubstr("this open loop has no end")));
  for (const char* closed_loop :
       {"", "max_parallel_iterations: 1", "warmup_iterations: 5"}) {
    EXPECT_THAT(WarningsOf(closed_loop),
                ElementsAre(HasSubstr("this closed loop has no end")))
        << closed_loop;
  }
}

TEST(WarningsTest, ALoopWhoseTrafficIsCancelledHasAnEnd) {
  for (const char* loop :
       {"open_loop_interval_ns: 1000000", "max_parallel_iterations: 1"}) {
    EXPECT_THAT(WarningsOf(loop, R"pb(
                  action_lists { name: "server" action_names: "end" }
                  actions {
                    name: "end"
                    activity_config_name: "spin"
                    cancel_traffic_when_done: true
                  }
                  activity_configs {
                    name: "spin"
                    activity_settings {
                      name: "activity_func"
                      string_value: "ConsumeCpu"
                    }
                  })pb"),
                IsEmpty())
        << loop;
  }
}

TEST(WarningsTest, TellsOfARateThatNobodyCanSend) {
  EXPECT_THAT(WarningsOf("open_loop_interval_ns: 100 max_duration_us: 1000"),
              ElementsAre(HasSubstr(
                  "[\"run\"].iterations: asks each instance for 1e+07 per "
                  "second")));
  EXPECT_THAT(WarningsOf("open_loop_interval_ns: 1000 max_duration_us: 1000"),
              IsEmpty());
}

TEST(WarningsTest, AdmissionNeedsLists) {
  const std::string limited =
      "services { name: 'limited' count: 1 admission { max_running: 1 } } "
      "rpc_descriptions { name: 'ask' client: 'client' server: 'limited' } "
      "action_lists { name: 'ask' $0 } ";
  EXPECT_THAT(
      WarningsOf("max_iteration_count: 1", absl::Substitute(limited, "")),
      Contains(HasSubstr("services[\"limited\"].admission: limits "
                         "nothing")));
  EXPECT_THAT(WarningsOf("max_iteration_count: 1",
                         absl::Substitute(limited, "action_names: 'run'")),
              Not(Contains(HasSubstr("limits nothing"))));
}

}  // namespace
}  // namespace distbench::config
