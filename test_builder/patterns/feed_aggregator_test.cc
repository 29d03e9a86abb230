#include "test_builder/patterns/feed_aggregator.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/patterns/build_pattern.h"

namespace distbench {
namespace {

using testing::ElementsAre;

std::vector<int64_t> Sizes(const Traffic& traffic) {
  std::vector<int64_t> sizes;
  for (const PayloadSpec& payload : traffic.body.payload_descriptions()) {
    sizes.push_back(payload.size());
  }
  return sizes;
}

TEST(FeedAggregatorTest, AsksEveryLeafBeforeItAnswers) {
  const auto traffic =
      BuildPattern(FeedAggregatorPattern(), {{"leaf_count", "3"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  const DistributedSystemDescription& body = traffic->body;
  EXPECT_EQ(body.rpc_descriptions(0).fanout_filter(), "round_robin");
  EXPECT_EQ(body.rpc_descriptions(1).fanout_filter(), "all");
  EXPECT_THAT(body.action_lists(1).action_names(), ElementsAre("ask_leaves"));
  EXPECT_EQ(body.action_lists(1).name(), "feed_query");
  EXPECT_EQ(body.services(2).count(), 3);
}

TEST(FeedAggregatorTest, HasTheSizesOfAFeed) {
  EXPECT_THAT(Sizes(*BuildPattern(FeedAggregatorPattern(), {})),
              ElementsAre(3000, 8192, 8192, 284672));
}

TEST(FeedAggregatorTest, Schedules) {
  const auto traffic = BuildPattern(FeedAggregatorPattern(),
                                    {{"qps", "0.5"},
                                     {"warmup_seconds", "1.5"},
                                     {"synchronization_mode", "constant"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  const Iterations& iterations = traffic->body.actions(0).iterations();
  EXPECT_EQ(iterations.open_loop_interval_ns(), 2'000'000'000);
  EXPECT_EQ(iterations.open_loop_interval_distribution(), "constant");
  EXPECT_EQ(iterations.warmup_ns(), 1'500'000'000);
}

}  // namespace
}  // namespace distbench
