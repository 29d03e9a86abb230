// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/plan/test_names.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;

TEST(TestNames, FindsTheFirstElementOfAName) {
  DistributedSystemDescription test;
  for (const char* name : {"a", "b", "a"}) test.add_services()->set_name(name);
  test.add_actions()->set_name("c");
  const TestNames names(test);
  EXPECT_EQ(names.services.Find("a"), 0);
  EXPECT_EQ(names.services.Find("b"), 1);
  EXPECT_EQ(names.services.Find("c"), kNone);
  EXPECT_EQ(names.actions.Find("c"), 0);
  EXPECT_THAT(names.services.names(), ElementsAre("a", "b", "a"));
}

TEST(NameOfTest, IsItsNameOrAnAttribute) {
  DistributedSystemDescription test;
  EXPECT_EQ(NameOf(test), "");
  (*test.mutable_attributes())["test_name"] = "old";
  EXPECT_EQ(NameOf(test), "old");
  test.set_name("new");
  EXPECT_EQ(NameOf(test), "new");
}

}  // namespace
}  // namespace distbench::config
