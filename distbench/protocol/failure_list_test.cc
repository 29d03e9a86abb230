#include "distbench/protocol/failure_list.h"

#include "gtest/gtest.h"

namespace distbench {
namespace {

TEST(FailureListTest, NamesEachFailureOnce) {
  FailureList failures;
  EXPECT_TRUE(failures.empty());
  for (const char* failure : {"a (refused)", "b (refused)", "a (refused)"}) {
    failures.Add(failure);
  }
  EXPECT_FALSE(failures.empty());
  EXPECT_EQ(failures.ToString(), "a (refused), b (refused)");
}

TEST(FailureListTest, NamesTheFirstThree) {
  FailureList failures;
  for (const char* failure : {"a", "b", "c"}) failures.Add(failure);
  EXPECT_EQ(failures.ToString(), "a, b, c");
  for (const char* failure : {"d", "e", "e"}) failures.Add(failure);
  EXPECT_EQ(failures.ToString(), "a, b, c and 2 more");
}

}  // namespace
}  // namespace distbench
