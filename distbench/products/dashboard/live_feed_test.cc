#include "distbench/products/dashboard/live_feed.h"

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::dashboard {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr absl::Duration kDeadline = absl::Seconds(60);
constexpr int64_t kSecondNs = 1'000'000'000;

// A sequencer whose running test has another count at each look.
class FakeSource final : public LiveSource {
 public:
  LiveStatus Look() const override {
    LiveStatus status;
    RunDescription run;
    run.set_id("1-a");
    run.set_state(RunDescription::RUNNING);
    status.runs = {run};
    status.sequencer.set_running_test("test");
    status.sequencer.mutable_progress()->set_succeeded_count(++looks_);
    return status;
  }
  bool IsBusy() const override { return true; }
  absl::Status Cancel(const std::string&, const std::string&) override {
    return absl::OkStatus();
  }

  int looks() const { return looks_; }

 private:
  mutable std::atomic<int> looks_ = 0;
};

class FakeSink final : public EventSink {
 public:
  int FollowerCount() const override { return followers_; }
  void SendState(const std::string& /*name*/, std::string event) override {
    const absl::MutexLock lock(&mutex_);
    states_.push_back(std::move(event));
  }
  void SendHeartbeat() override {}

  void SetFollowers(int count) { followers_ = count; }

  bool AwaitStates(size_t count) {
    const absl::MutexLock lock(&mutex_);
    const auto are_there = [&] { return states_.size() >= count; };
    return mutex_.AwaitWithTimeout(absl::Condition(&are_there), kDeadline);
  }
  std::vector<std::string> states() {
    const absl::MutexLock lock(&mutex_);
    return states_;
  }

 private:
  std::atomic<int> followers_ = 0;
  absl::Mutex mutex_;
  std::vector<std::string> states_;
};

TEST(LiveFeedTest, DoesNotLookWhileNobodyDoes) {
  FakeSource source;
  FakeSink sink;
  {
    LiveFeed feed(source, {.interval = absl::ZeroDuration()});
    // Each time, the feed's thread may find that it has work.
    for (int i = 0; i < 10'000; ++i) feed.BeginSending(sink);
  }
  EXPECT_EQ(source.looks(), 0);
}

TEST(LiveFeedTest, OneLookIsForAllWhoAskWithinAnInterval) {
  FakeSource source;
  LiveFeed feed(source, {.interval = absl::Hours(1)});
  const std::string first = feed.Json();
  EXPECT_EQ(feed.Json(), first);
  EXPECT_EQ(source.looks(), 1);
}

TEST(LiveFeedTest, LooksAgainAfterAnIntervalOfAClockThatNeverSteps) {
  FakeSource source;
  base::FakeClock clock;
  LiveFeed feed(source, {.interval = absl::Seconds(1), .clock = &clock});
  const std::string first = feed.Json();
  clock.Advance(kSecondNs - 1);
  EXPECT_EQ(feed.Json(), first);
  clock.Advance(1);
  EXPECT_NE(feed.Json(), first);
}

TEST(LiveFeedTest, AFollowerGetsTheStateAtOnceAndThenChanges) {
  FakeSource source;
  FakeSink sink;
  LiveFeed feed(source, {.interval = absl::Milliseconds(1)});
  feed.BeginSending(sink);
  feed.OnFollower();
  EXPECT_GE(sink.states().size(), 2);
  sink.SetFollowers(1);
  EXPECT_TRUE(sink.AwaitStates(4));
  feed.EndSending();
  const std::vector<std::string> states = sink.states();
  EXPECT_EQ(states[0], "event: nodes\ndata: []\n\n");
  // The nodes have not changed, and are not sent again.
  for (size_t i = 1; i < states.size(); ++i) {
    EXPECT_THAT(states[i], testing::StartsWith("event: status\ndata: {"));
    EXPECT_NE(states[i], states[i - 1]);
  }
}

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

TEST(LiveRateTest, CountsFromLookToLookOfOneTest) {
  LiveRate rate;
  EXPECT_EQ(rate.Update(StatusWith(100, kSecondNs, "a")), 100);
  EXPECT_EQ(rate.Update(StatusWith(500, 3 * kSecondNs, "a")), 200);
  // Nothing new from the nodes.
  EXPECT_EQ(rate.Update(StatusWith(500, 3 * kSecondNs, "a")), 200);
  EXPECT_EQ(rate.Update(StatusWith(50, kSecondNs, "b")), 50);
  EXPECT_EQ(rate.Update(LiveStatus()), 0);
}

TEST(LiveJsonTest, NamesAreTextWhateverTheyContain) {
  LiveStatus status = StatusWith(7, kSecondNs, "a");
  status.runs[0].set_label("</script>\n\xff\"");
  status.runs[0].add_test_names("t");
  NodeStatus& node = *status.sequencer.add_nodes();
  node.mutable_config()->set_node_alias("node0");
  node.mutable_registration()->set_hostname("h");
  RunDescription waiting;
  waiting.set_id("b");
  waiting.set_state(RunDescription::WAITING);
  status.runs.push_back(waiting);

  const std::string text = LiveJson(NodesJson(status), RunsJson(status, 2.5));
  EXPECT_THAT(text, testing::Not(HasSubstr("\n")));
  const json parsed = json::parse(text);
  EXPECT_EQ(parsed["nodes"][0]["name"], "node0");
  EXPECT_EQ(parsed["nodes"][0]["state"], "idle");
  EXPECT_EQ(parsed["running"]["succeeded"], 7);
  EXPECT_EQ(parsed["running"]["per_second"], 2.5);
  EXPECT_EQ(parsed["running"]["state"], "preparing");
  EXPECT_TRUE(parsed["running"]["duration_seconds"].is_null());
  EXPECT_EQ(parsed["running"]["tests"], json({"t"}));
  EXPECT_EQ(parsed["queue"][0]["id"], "b");
}

}  // namespace
}  // namespace distbench::dashboard
