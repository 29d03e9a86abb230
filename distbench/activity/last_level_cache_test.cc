#include "distbench/activity/last_level_cache.h"

#include "distbench/numa/testing/fake_host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

using ::testing::HasSubstr;

TEST(LastLevelCacheTest, IsTheLargestOfTheHighestLevel) {
  numa::FakeHost host;
  host.AddNodes({{.id = 0, .cpus = "0-3"}});
  host.AddCache("0-1", 1, "32K", "Data");
  host.AddCache("0-1", 2, "64M");
  host.AddCache("0-1", 3, "16M");
  host.AddCache("2-3", 3, "32M");
  const auto bytes = LastLevelCacheBytes(host.root());
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes, 32 << 20);
}

TEST(LastLevelCacheTest, InstructionCachesDoNotCount) {
  numa::FakeHost host;
  host.AddNodes({{.id = 0, .cpus = "0"}});
  host.AddCache("0", 1, "64K", "Instruction");
  host.AddCache("0", 1, "32K", "Data");
  EXPECT_EQ(LastLevelCacheBytes(host.root()).value_or(0), 32 << 10);
}

TEST(LastLevelCacheTest, AHostThatDoesNotSayIsAnError) {
  const numa::FakeHost host;
  const auto bytes = LastLevelCacheBytes(host.root());
  EXPECT_EQ(bytes.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(bytes.status().ToString(), HasSubstr("set bytes"));
}

}  // namespace
}  // namespace distbench::activity
