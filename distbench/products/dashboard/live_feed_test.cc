// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/live_feed.h"

#include <nlohmann/json.hpp>
#include <string>

#include "distbench/base/testing/fake_clock.h"
#include "distbench/products/dashboard/testing/fake_sequencer.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::dashboard {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kSecondNs = 1'000'000'000;

class LiveFeedTest : public testing::Test {
 protected:
  // Runs a test that has made such progress.
  void Run(int64_t succeeded, int64_t time_ns, const char* id) {
    sequencer_.runs.resize(1);
    sequencer_.runs[0].set_id(id);
    sequencer_.runs[0].set_state(RunDescription::RUNNING);
    TrafficProgress& progress = *sequencer_.status.mutable_progress();
    progress.set_succeeded_count(succeeded);
    progress.set_traffic_time_ns(time_ns);
  }

  // The answer a second later.
  json NextStatus() {
    clock_.Advance(kSecondNs);
    const std::string text = feed_.Json();
    EXPECT_THAT(text, testing::Not(HasSubstr("\n")));
    return json::parse(text);
  }

  FakeSequencer sequencer_;
  base::FakeClock clock_;
  LiveFeed feed_{sequencer_, clock_};
};

TEST_F(LiveFeedTest, LooksOnceForAllWhoAskWithinASecond) {
  EXPECT_EQ(sequencer_.looks, 0);
  feed_.Json();
  clock_.Advance(kSecondNs - 1);
  feed_.Json();
  feed_.NewestEvents();
  EXPECT_EQ(sequencer_.looks, 1);
  clock_.Advance(1);
  feed_.NewestEvents();
  EXPECT_EQ(sequencer_.looks, 2);
}

TEST_F(LiveFeedTest, OnlyWhatHasChangedIsANewEvent) {
  Run(1, kSecondNs, "a");
  const auto first = feed_.NewestEvents();
  ASSERT_EQ(first.size(), 2);
  EXPECT_EQ(*first[0], "event: nodes\ndata: []\n\n");
  EXPECT_THAT(*first[1], StartsWith("event: status\ndata: {"));
  clock_.Advance(kSecondNs);
  EXPECT_EQ(feed_.NewestEvents(), first);
  Run(2, kSecondNs, "a");
  clock_.Advance(kSecondNs);
  const auto second = feed_.NewestEvents();
  EXPECT_EQ(second[0], first[0]);
  EXPECT_NE(*second[1], *first[1]);
}

TEST_F(LiveFeedTest, TheRateCountsFromLookToLookOfOneTest) {
  const auto rate_of = [&](int64_t succeeded, int64_t seconds, const char* id) {
    Run(succeeded, seconds * kSecondNs, id);
    return NextStatus()["running"]["per_second"];
  };
  EXPECT_EQ(rate_of(100, 1, "a"), 100);
  EXPECT_EQ(rate_of(500, 3, "a"), 200);
  // Nothing new from the nodes.
  EXPECT_EQ(rate_of(500, 3, "a"), 200);
  EXPECT_EQ(rate_of(50, 1, "b"), 50);
  sequencer_.runs.clear();
  EXPECT_TRUE(NextStatus()["running"].is_null());
  EXPECT_EQ(rate_of(60, 2, "b"), 30);
}

TEST_F(LiveFeedTest, LatenciesAndFailuresAreThoseOfTheNewestReport) {
  const auto times = [](int64_t ns) {
    stats::LogHistogram histogram;
    histogram.Record(ns);
    Histogram encoded;
    results::EncodeHistogram(histogram, encoded);
    return encoded;
  };
  Run(0, 0, "a");
  json running = NextStatus()["running"];
  EXPECT_EQ(running["measured_seconds"], 0);
  EXPECT_TRUE(running["p50"].is_null());
  Run(100, kSecondNs, "a");
  TrafficProgress& progress = *sequencer_.status.mutable_progress();
  progress.set_failed_count(10);
  *progress.mutable_recent_service_time_ns() = times(kSecondNs);
  // Seen again, it is still the newest.
  for (int i = 0; i < 2; ++i) {
    running = NextStatus()["running"];
    EXPECT_EQ(running["measured_seconds"], 1);
    EXPECT_EQ(running["failed_per_second"], 10);
    EXPECT_EQ(running["latency"], "service");
    EXPECT_EQ(running["p50"], 1);
    EXPECT_TRUE(running["p99"].is_null()) << "it failed";
    EXPECT_NEAR(running["failed_above_percent"], 90.9, 0.1);
  }
  Run(100, 2 * kSecondNs, "a");
  *progress.mutable_recent_service_time_ns() = times(2 * kSecondNs);
  running = NextStatus()["running"];
  EXPECT_EQ(running["failed_per_second"], 0);
  EXPECT_EQ(running["p99"], 2);
}

TEST_F(LiveFeedTest, EachRpcHasItsFigures) {
  Run(100, kSecondNs, "a");
  EXPECT_EQ(NextStatus()["running"]["rpcs"], json::object());
  Run(300, 2 * kSecondNs, "a");
  RecentRpc& rpc = *sequencer_.status.mutable_progress()->add_recent_rpcs();
  rpc.set_rpc_name("query");
  rpc.set_succeeded_count(5);
  EXPECT_EQ(NextStatus()["running"]["rpcs"]["query"],
            json({{"per_second", 200},
                  {"failed_per_second", 0},
                  {"failed_above_percent", nullptr},
                  {"p50", nullptr},
                  {"p99", nullptr}}));
}

TEST_F(LiveFeedTest, NamesAreTextWhateverTheyContain) {
  Run(7, kSecondNs, "a");
  sequencer_.runs[0].set_label("</script>\n\xff\"");
  sequencer_.runs[0].add_test_names("t");
  NodeStatus& node = *sequencer_.status.add_nodes();
  node.mutable_config()->set_node_alias("node0");
  node.mutable_registration()->set_hostname("h");
  RunDescription waiting;
  waiting.set_id("b");
  waiting.set_state(RunDescription::WAITING);
  sequencer_.runs.push_back(waiting);

  const json parsed = NextStatus();
  EXPECT_EQ(parsed["nodes"][0]["name"], "node0");
  EXPECT_EQ(parsed["nodes"][0]["state"], "idle");
  EXPECT_EQ(parsed["running"]["succeeded"], 7);
  EXPECT_EQ(parsed["running"]["state"], "preparing");
  EXPECT_TRUE(parsed["running"]["duration_seconds"].is_null());
  EXPECT_EQ(parsed["running"]["tests"], json({"t"}));
  EXPECT_EQ(parsed["queue"][0]["id"], "b");
}

}  // namespace
}  // namespace distbench::dashboard
