// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/live_feed.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "distbench/base/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::dashboard {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kSecondNs = 1'000'000'000;

LiveStatus StatusWith(int64_t succeeded, int64_t time_ns, const char* id) {
  LiveStatus status;
  RunDescription run;
  run.set_id(id);
  run.set_state(RunDescription::RUNNING);
  status.runs = {run};
  TrafficProgress& progress = *status.sequencer.mutable_progress();
  progress.set_succeeded_count(succeeded);
  progress.set_traffic_time_ns(time_ns);
  return status;
}

// A sequencer whose state a test sets.
class FakeSource final : public LiveSource {
 public:
  LiveStatus Look() const override {
    ++looks;
    return status;
  }
  bool IsBusy() const override { return true; }
  absl::Status Cancel(const std::string&, const std::string&) override {
    return absl::OkStatus();
  }

  LiveStatus status;
  mutable int looks = 0;
};

class LiveFeedTest : public testing::Test {
 protected:
  // The answer a second later.
  json NextStatus() {
    clock_.Advance(kSecondNs);
    const std::string text = feed_.Json();
    EXPECT_THAT(text, testing::Not(HasSubstr("\n")));
    return json::parse(text);
  }

  FakeSource source_;
  base::FakeClock clock_;
  LiveFeed feed_{source_, clock_};
};

TEST_F(LiveFeedTest, LooksOnceForAllWhoAskWithinASecond) {
  EXPECT_EQ(source_.looks, 0);
  feed_.Json();
  clock_.Advance(kSecondNs - 1);
  feed_.Json();
  feed_.NewestEvents();
  EXPECT_EQ(source_.looks, 1);
  clock_.Advance(1);
  feed_.NewestEvents();
  EXPECT_EQ(source_.looks, 2);
}

TEST_F(LiveFeedTest, OnlyWhatHasChangedIsANewEvent) {
  source_.status = StatusWith(1, kSecondNs, "a");
  const auto first = feed_.NewestEvents();
  ASSERT_EQ(first.size(), 2);
  EXPECT_EQ(*first[0], "event: nodes\ndata: []\n\n");
  EXPECT_THAT(*first[1], StartsWith("event: status\ndata: {"));
  clock_.Advance(kSecondNs);
  EXPECT_EQ(feed_.NewestEvents(), first);
  source_.status = StatusWith(2, kSecondNs, "a");
  clock_.Advance(kSecondNs);
  const auto second = feed_.NewestEvents();
  EXPECT_EQ(second[0], first[0]);
  EXPECT_NE(*second[1], *first[1]);
}

TEST_F(LiveFeedTest, TheRateCountsFromLookToLookOfOneTest) {
  const auto rate_of = [&](LiveStatus status) {
    source_.status = std::move(status);
    return NextStatus()["running"]["per_second"];
  };
  EXPECT_EQ(rate_of(StatusWith(100, kSecondNs, "a")), 100);
  EXPECT_EQ(rate_of(StatusWith(500, 3 * kSecondNs, "a")), 200);
  // Nothing new from the nodes.
  EXPECT_EQ(rate_of(StatusWith(500, 3 * kSecondNs, "a")), 200);
  EXPECT_EQ(rate_of(StatusWith(50, kSecondNs, "b")), 50);
  source_.status = LiveStatus();
  EXPECT_TRUE(NextStatus()["running"].is_null());
  EXPECT_EQ(rate_of(StatusWith(60, 2 * kSecondNs, "b")), 30);
}

TEST_F(LiveFeedTest, NamesAreTextWhateverTheyContain) {
  LiveStatus& status = source_.status;
  status = StatusWith(7, kSecondNs, "a");
  status.runs[0].set_label("</script>\n\xff\"");
  status.runs[0].add_test_names("t");
  NodeStatus& node = *status.sequencer.add_nodes();
  node.mutable_config()->set_node_alias("node0");
  node.mutable_registration()->set_hostname("h");
  RunDescription waiting;
  waiting.set_id("b");
  waiting.set_state(RunDescription::WAITING);
  status.runs.push_back(waiting);

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
