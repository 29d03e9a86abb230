#include "distbench/sequencer/execution/expected_duration.h"

#include <limits>
#include <optional>
#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::Eq;

std::optional<int64_t> ExpectedUs(const std::string& text) {
  const auto test = FromText<DistributedSystemDescription>(text);
  return ExpectedDurationUs(test);
}

TEST(ExpectedDurationTest, IsUnknownWithoutALimit) {
  EXPECT_THAT(ExpectedUs(""), Eq(std::nullopt));
  EXPECT_THAT(ExpectedUs(R"(
                services { name: "client" }
                actions { name: "run" iterations { max_iteration_count: 7 } }
                action_lists { name: "client" action_names: "run" })"),
              Eq(std::nullopt));
}

TEST(ExpectedDurationTest, FollowsTheLongestChainOfMainLists) {
  EXPECT_THAT(ExpectedUs(R"(
                services { name: "client" }
                actions { name: "a" iterations { max_duration_us: 10 } }
                actions { name: "b" iterations { max_duration_us: 25 } }
                actions { name: "c" iterations { max_duration_us: 20 }
                          dependencies: "a" }
                action_lists {
                  name: "client"
                  action_names: "a" action_names: "b" action_names: "c"
                })"),
              Eq(30));
}

TEST(ExpectedDurationTest, LeavesOutHandlers) {
  EXPECT_THAT(ExpectedUs(R"(
                services { name: "client" }
                actions { name: "a" iterations { max_duration_us: 10 } }
                actions { name: "b" iterations { max_duration_us: 25 } }
                action_lists { name: "client" action_names: "a" }
                action_lists { name: "query" action_names: "b" })"),
              Eq(10));
}

TEST(ExpectedDurationTest, DoesNotOverflow) {
  EXPECT_THAT(ExpectedUs(R"(
                services { name: "client" }
                actions { name: "a"
                          iterations { max_duration_us: 9223372036854775807 } }
                actions { name: "b"
                          iterations { max_duration_us: 9223372036854775807 }
                          dependencies: "a" }
                action_lists {
                  name: "client" action_names: "a" action_names: "b"
                })"),
              Eq(std::numeric_limits<int64_t>::max()));
}

}  // namespace
}  // namespace distbench
