#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/testing/activity_settings.h"
#include "test_builder/patterns/testing/build_pattern.h"

namespace distbench::test_builder {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StorageServiceTest, AHandlerDoesTheWork) {
  const auto traffic =
      BuildPattern(StorageServicePattern(), {{"hash_bytes", "5000"},
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

}  // namespace
}  // namespace distbench::test_builder
