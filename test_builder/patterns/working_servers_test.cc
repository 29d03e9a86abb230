// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/testing/pattern_testing.h"

namespace distbench::test_builder {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StorageServiceTest, AHandlerDoesTheWork) {
  const auto traffic =
      BuildPattern("storage_service", {{"hash_bytes", "5000"},
                                       {"directory", "/data"},
                                       {"io", "direct"},
                                       {"memory_bytes", "1048576"},
                                       {"memory_percent", "30"},
                                       {"threads", "3"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  const DistributedSystemDescription& body = traffic->body;
  EXPECT_THAT(body.action_lists(1).action_names(),
              ElementsAre("serve_storage"));
  ASSERT_EQ(body.activity_configs_size(), 1);
  EXPECT_EQ(body.activity_configs(0).pool_name(),
            body.activity_pools(0).name());
  EXPECT_EQ(body.activity_pools(0).size(), 3);
  const auto settings = SettingsOf(body.activity_configs(0));
  EXPECT_EQ(settings.at("activity_func"), "Storage");
  EXPECT_EQ(settings.at("hash_bytes"), "5000");
  EXPECT_EQ(settings.at("directory"), "/data");
  EXPECT_EQ(settings.at("io"), "direct");
  EXPECT_EQ(settings.at("memory_percent"), "30");
  EXPECT_THAT(traffic->alias, HasSubstr("x5000x67108864x1048576_direct"));
}

TEST(StorageServiceTest, TakesTextsAsTheyAreWrittenAndNumbersAsDecimals) {
  const std::string directory = "/a \"b\"\\n{<io>}\n\303\244";
  const auto traffic = BuildPattern(
      "storage_service", {{"directory", directory}, {"threads", "010"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_EQ(SettingsOf(traffic->body.activity_configs(0)).at("directory"),
            directory);
  EXPECT_EQ(traffic->body.activity_pools(0).size(), 10);
}

TEST(InferenceTest, FetchesExtractsAndMultipliesInOrder) {
  const auto traffic = BuildPattern("inference", {});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  const DistributedSystemDescription& body = traffic->body;
  EXPECT_THAT(body.action_lists(1).action_names(),
              ElementsAre("fetch_features", "extract_features", "run_model"));
  EXPECT_THAT(body.actions(2).dependencies(), ElementsAre("fetch_features"));
  EXPECT_THAT(body.actions(3).dependencies(), ElementsAre("extract_features"));
  EXPECT_EQ(SettingsOf(body.activity_configs(0)).at("activity_func"),
            "FeatureQuery");
  EXPECT_EQ(SettingsOf(body.activity_configs(2)).at("activity_func"), "Infer");
}

// Waiting for the disk does not occupy a thread that could compute.
TEST(InferenceTest, FetchingAndComputingHavePoolsOfTheirOwn) {
  const auto traffic = BuildPattern(
      "inference", {{"fetching_threads", "7"}, {"computing_threads", "5"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  const DistributedSystemDescription& body = traffic->body;
  EXPECT_EQ(body.activity_pools(0).size(), 7);
  EXPECT_EQ(body.activity_pools(1).size(), 5);
  EXPECT_EQ(body.activity_configs(0).pool_name(), "fetching");
  EXPECT_EQ(body.activity_configs(1).pool_name(), "computing");
  EXPECT_EQ(body.activity_configs(2).pool_name(), "computing");
}

TEST(InferenceTest, ModelAIsMoreWorkInEveryRespect) {
  const auto settings_of = [](const std::string& model, int activity) {
    const auto traffic = BuildPattern("inference", {{"model", model}});
    EXPECT_TRUE(traffic.ok()) << traffic.status();
    return SettingsOf(traffic->body.activity_configs(activity));
  };
  for (const int activity : {0, 1, 2}) {
    const auto a = settings_of("a", activity);
    for (const auto& [name, value] : settings_of("b", activity)) {
      if (name == "activity_func" || name == "directory" || name == "io" ||
          name == "rows") {
        continue;
      }
      EXPECT_GT(std::stoll(a.at(name)), std::stoll(value)) << name;
    }
  }
}

}  // namespace
}  // namespace distbench::test_builder
