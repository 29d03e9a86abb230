// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/run_table.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kStartNs = 1'780'000'000 * kSecondNs;

RunDescription DoneRun() {
  RunDescription run;
  run.set_id("20260528-202640-000");
  run.set_state(RunDescription::DONE);
  run.set_label("nightly");
  run.set_client("10.0.0.7");
  for (const char* name : {"incast", "tree", "clique", "mesh"}) {
    run.add_test_names(name);
  }
  run.set_submit_timestamp_ns(kStartNs - kSecondNs);
  run.set_start_timestamp_ns(kStartNs);
  run.set_end_timestamp_ns(kStartNs + 192 * kSecondNs);
  run.set_result_bytes(3 << 19);
  return run;
}

RunDescription WaitingRun() {
  RunDescription run;
  run.set_id("20260528-202900-000");
  run.set_state(RunDescription::WAITING);
  run.set_queue_position(2);
  run.set_client("10.0.0.7");
  run.add_test_names("incast");
  return run;
}

TEST(RunTableTest, HasALineForEachRun) {
  EXPECT_EQ(
      RunTable({DoneRun(), WaitingRun()}),
      "RUN                  STATE             STARTED (UTC)        TOOK   "
      "RESULT   CLIENT    LABEL    TESTS\n"
      "20260528-202640-000  done              2026-05-28 20:26:40  3m12s  "
      "1.5 MiB  10.0.0.7  nightly  incast, tree and 2 more\n"
      "20260528-202900-000  waiting, 2 ahead  -                    -      "
      "-        10.0.0.7  -        incast\n");
}

TEST(RunTableTest, RunsThatRunSayWhichTest) {
  RunDescription run = DoneRun();
  run.set_state(RunDescription::RUNNING);
  run.set_current_test_index(2);
  run.clear_end_timestamp_ns();
  EXPECT_THAT(RunTable({run}), HasSubstr("  running 3/4  "));
}

// Programs know the state, which is as it was.
TEST(RunTableTest, FalseNumbersAreNoRunThatDidNotEnd) {
  RunDescription run = DoneRun();
  run.set_state(RunDescription::FAILED);
  EXPECT_THAT(RunTable({run}), HasSubstr("  failed  "));
  run.set_is_invalid(true);
  EXPECT_THAT(RunTable({run}), HasSubstr("  invalid  "));
  const auto json = nlohmann::json::parse(RunsJson({run}))["runs"][0];
  EXPECT_EQ(json["state"], "failed");
  EXPECT_EQ(json["is_invalid"], true);
}

TEST(RunTableTest, MessagesFollowTheLineOfTheirRun) {
  RunDescription run = DoneRun();
  run.set_state(RunDescription::FAILED);
  run.set_message("the sequencer's disk is \"full\"");
  EXPECT_THAT(RunTable({run}),
              HasSubstr("incast, tree and 2 more\n"
                        "  the sequencer's disk is \"full\"\n"));
}

TEST(RunTableTest, WhatOthersWroteDoesNotReachTheTerminalAsItIs) {
  RunDescription run = DoneRun();
  run.set_label("\x1b[2J");
  run.set_test_names(0, "a\nb");
  run.set_message("\r");
  const std::string table = RunTable({run});
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  EXPECT_THAT(table, Not(HasSubstr("\r")));
  EXPECT_THAT(table, HasSubstr("a b"));
}

TEST(RunTableTest, JsonHasEverything) {
  const auto json = nlohmann::json::parse(RunsJson({DoneRun(), WaitingRun()}));
  const nlohmann::json done = {
      {"id", "20260528-202640-000"},
      {"state", "done"},
      {"label", "nightly"},
      {"client", "10.0.0.7"},
      {"test_names", {"incast", "tree", "clique", "mesh"}},
      {"submit_time", "2026-05-28T20:26:39.000000000Z"},
      {"start_time", "2026-05-28T20:26:40.000000000Z"},
      {"end_time", "2026-05-28T20:29:52.000000000Z"},
      {"result_bytes", 3 << 19},
  };
  EXPECT_EQ(json["runs"][0], done);
  EXPECT_EQ(json["runs"][1]["queue_position"], 2);
  EXPECT_FALSE(json["runs"][1].contains("end_time"));
}

TEST(RunTableTest, JsonOfNothingIsAnEmptyList) {
  EXPECT_EQ(nlohmann::json::parse(RunsJson({}))["runs"].size(), 0);
}

}  // namespace
}  // namespace distbench::cli
