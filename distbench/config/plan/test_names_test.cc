// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/plan/test_names.h"

#include <string>
#include <vector>

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

TEST(ForEachActionOfTest, FollowsNestedListsEachOnce) {
  DistributedSystemDescription test;
  const auto add_list = [&](const std::string& name,
                            const std::vector<std::string>& actions) {
    ActionList& list = *test.add_action_lists();
    list.set_name(name);
    for (const std::string& action : actions) list.add_action_names(action);
  };
  const auto add_action = [&](const std::string& name,
                              const std::string& list) {
    Action& action = *test.add_actions();
    action.set_name(name);
    if (!list.empty()) action.set_action_list_name(list);
  };
  add_list("main", {"send", "nest", "unknown"});
  add_list("nested", {"work", "again", "lost"});
  add_list("other", {"unrelated"});
  add_action("send", "");
  add_action("nest", "nested");
  add_action("work", "");
  add_action("again", "main");
  add_action("lost", "nowhere");
  add_action("unrelated", "");
  const TestNames names(test);
  std::vector<std::string> visited;
  const auto visit = [&](const Action& action) {
    visited.push_back(action.name());
  };
  ForEachActionOf(test, names, "main", visit);
  EXPECT_THAT(visited, ElementsAre("send", "nest", "work", "again", "lost"));
  visited.clear();
  ForEachActionOf(test, names, "nowhere", visit);
  EXPECT_THAT(visited, ElementsAre());
}

}  // namespace
}  // namespace distbench::config
