// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/patterns/pattern.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/patterns/testing/pattern_testing.h"

namespace distbench::test_builder {
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
  const auto traffic = BuildPattern("feed_aggregator", {{"leaf_count", "3"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  const DistributedSystemDescription& body = traffic->body;
  EXPECT_EQ(body.rpc_descriptions(0).fanout_filter(), "round_robin");
  EXPECT_EQ(body.rpc_descriptions(1).fanout_filter(), "all");
  EXPECT_THAT(body.action_lists(1).action_names(), ElementsAre("ask_leaves"));
  EXPECT_EQ(body.action_lists(1).name(), "feed_query");
  EXPECT_EQ(body.services(2).count(), 3);
}

TEST(FeedAggregatorTest, HasTheSizesOfAFeed) {
  EXPECT_THAT(Sizes(*BuildPattern("feed_aggregator", {})),
              ElementsAre(3000, 8192, 8192, 284672));
}

TEST(FeedAggregatorTest, WithoutAPresetThereIsNoWork) {
  const auto traffic = BuildPattern("feed_aggregator", {});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_EQ(traffic->body.activity_configs_size(), 0);
  EXPECT_EQ(traffic->body.action_lists(2).action_names_size(), 0);
}

// A leaf's stages, each after the previous one.
TEST(FeedAggregatorTest, PresetsAddWorkInOrder) {
  const auto traffic =
      BuildPattern("feed_aggregator", {{"preset", "feedsim_v1"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_THAT(traffic->alias,
              testing::StartsWith("feed_aggregator_feedsim_v1"));
  const DistributedSystemDescription& body = traffic->body;
  EXPECT_EQ(body.action_lists(2).name(), "leaf_query");
  EXPECT_THAT(
      body.action_lists(2).action_names(),
      ElementsAre("call_functions", "rank", "read_storage", "compress_reply",
                  "serialize_stories", "compress_stories", "chase_pointers",
                  "serialize_reply", "decompress_reply", "deserialize_reply"));
  for (const Action& action : body.actions()) {
    if (action.name() != "rank") continue;
    EXPECT_THAT(action.dependencies(), ElementsAre("call_functions"));
    EXPECT_EQ(action.activity_config_name(), "rank");
  }
}

TEST(FeedAggregatorTest, TheSecondGenerationAsksMockServices) {
  const auto traffic = BuildPattern(
      "feed_aggregator", {{"preset", "feedsim_v2"}, {"mock_count", "5"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  const DistributedSystemDescription& body = traffic->body;
  EXPECT_EQ(body.services(3).name(), "mock");
  EXPECT_EQ(body.services(3).count(), 5);
  EXPECT_EQ(body.rpc_descriptions_size(), 5);
  EXPECT_EQ(body.action_lists(2).action_names(0), "ask_fetch_profile");
  EXPECT_EQ(body.action_lists(2).action_names(3), "extract_features");
  EXPECT_THAT(body.action_lists(1).action_names(),
              ElementsAre("ask_leaves", "read_stories", "choose_stories",
                          "compress_feed"));
}

int64_t LeafResponseBytes(const DistributedSystemDescription& body) {
  for (const PayloadSpec& payload : body.payload_descriptions()) {
    if (payload.name() == "leaf_response_payload") return payload.size();
  }
  return -1;
}

TEST(FeedAggregatorTest, LeavesSendTheirStories) {
  const auto size_with = [](const ValueMap& parameters) {
    const auto traffic = BuildPattern("feed_aggregator", parameters);
    EXPECT_TRUE(traffic.ok()) << traffic.status();
    return LeafResponseBytes(traffic->body);
  };
  EXPECT_EQ(size_with({}), 284'672);
  EXPECT_EQ(size_with({{"preset", "feedsim_v1"}}), 284'672);
  EXPECT_EQ(size_with({{"preset", "small"}}), 284'672 / 36);
  EXPECT_EQ(size_with({{"preset", "small"}, {"leaf_response_size", "5"}}), 5);
}

TEST(FeedAggregatorTest, SmallStorageServesOneRequestAtATime) {
  const auto traffic = BuildPattern("feed_aggregator", {{"preset", "small"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  const auto& pools = traffic->body.activity_pools();
  EXPECT_EQ(pools.rbegin()->name(), "storage");
  EXPECT_EQ(pools.rbegin()->size(), 1);
  int found = 0;
  for (const ActivityConfig& activity : traffic->body.activity_configs()) {
    if (activity.name() != "read_storage") continue;
    EXPECT_EQ(activity.pool_name(), "storage");
    ++found;
  }
  EXPECT_EQ(found, 1);
}

TEST(FeedAggregatorTest, ParametersReplaceThePresets) {
  const auto traffic = BuildPattern(
      "feed_aggregator",
      {{"preset", "small"}, {"ranking_threads", "3"}, {"rank_nodes", "77"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  const DistributedSystemDescription& body = traffic->body;
  EXPECT_EQ(body.activity_pools(1).name(), "ranking");
  EXPECT_EQ(body.activity_pools(1).size(), 3);
  EXPECT_THAT(traffic->alias,
              testing::HasSubstr("_small_ranking_threads3_rank_nodes77_"));
  bool found = false;
  for (const ActivityConfig& activity : body.activity_configs()) {
    for (const NamedSetting& setting : activity.activity_settings()) {
      if (setting.name() != "nodes") continue;
      EXPECT_EQ(setting.int64_value(), 77);
      found = true;
    }
  }
  EXPECT_TRUE(found);
}

TEST(FeedAggregatorTest, ParametersOfWorkThatThereIsNotAreErrors) {
  EXPECT_THAT(
      BuildPattern("feed_aggregator", {{"stories", "3"}}).status().message(),
      testing::HasSubstr("stories has no effect with no preset"));
  EXPECT_THAT(BuildPattern("feed_aggregator",
                           {{"preset", "small"}, {"mock_count", "3"}})
                  .status()
                  .message(),
              testing::HasSubstr("mock_count has no effect"));
}

TEST(FeedAggregatorTest, Schedules) {
  const auto traffic =
      BuildPattern("feed_aggregator", {{"qps", "0.5"},
                                       {"warmup_seconds", "1.5"},
                                       {"synchronization_mode", "constant"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  const Iterations& iterations = traffic->body.actions(0).iterations();
  EXPECT_EQ(iterations.open_loop_interval_ns(), 2'000'000'000);
  EXPECT_EQ(iterations.open_loop_interval_distribution(), "constant");
  EXPECT_EQ(iterations.warmup_ns(), 1'500'000'000);
}

}  // namespace
}  // namespace distbench::test_builder
