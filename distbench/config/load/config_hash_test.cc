#include "distbench/config/load/config_hash.h"

#include <string>

#include "gtest/gtest.h"

namespace distbench {
namespace {

DistributedSystemDescription SmallTest() {
  DistributedSystemDescription test;
  test.set_name("test");
  (*test.mutable_attributes())["a"] = "1";
  (*test.mutable_attributes())["b"] = "2";
  return test;
}

TEST(ConfigHashTest, IsTheSameForTheSame) {
  DistributedSystemDescription other;
  (*other.mutable_attributes())["b"] = "2";
  other.set_name("test");
  (*other.mutable_attributes())["a"] = "1";
  EXPECT_EQ(ConfigHash(SmallTest()), ConfigHash(other));
  EXPECT_EQ(ConfigHash(SmallTest()).size(), 16u);
}

TEST(ConfigHashTest, IsTheSameInEveryBuild) {
  EXPECT_EQ(ConfigHash(DistributedSystemDescription()), "cbf29ce484222325");
}

TEST(ConfigHashTest, IsAnotherOneForAnother) {
  DistributedSystemDescription other = SmallTest();
  (*other.mutable_attributes())["a"] = "3";
  EXPECT_NE(ConfigHash(SmallTest()), ConfigHash(other));
}

TEST(ConfigHashTest, TheSeedIsNoPartOfIt) {
  DistributedSystemDescription other = SmallTest();
  other.set_random_seed(5);
  EXPECT_EQ(ConfigHash(SmallTest()), ConfigHash(other));
}

}  // namespace
}  // namespace distbench
