// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/node_flags.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(BindingFlagsTest, NoFlagsAskForNothing) {
  const auto binding = ParseBindingFlags({});
  ASSERT_TRUE(binding.ok());
  EXPECT_FALSE(binding->has_value());
}

TEST(BindingFlagsTest, NodeAndMemory) {
  const auto binding = ParseBindingFlags(
      {.numa_node = "1", .mem_policy = "preferred", .mem_nodes = "0"});
  ASSERT_TRUE(binding.ok() && binding->has_value());
  EXPECT_EQ((*binding)->nodes(), "1");
  EXPECT_EQ((*binding)->memory_policy(), NumaBinding::PREFERRED);
  EXPECT_EQ((*binding)->memory_nodes(), "0");
  EXPECT_FALSE((*binding)->has_cpus());
}

TEST(BindingFlagsTest, SaysWhatIsWrong) {
  const auto error = [](const BindingFlags& flags) {
    return std::string(ParseBindingFlags(flags).status().message());
  };
  EXPECT_THAT(error({.numa_node = "x"}), HasSubstr("--numa_node: \"x\""));
  EXPECT_THAT(error({.cpus = "3-1"}), HasSubstr("write 1-3"));
  EXPECT_THAT(error({.numa_node = "0", .mem_policy = "BIND"}),
              HasSubstr("bind, preferred, interleave or local"));
  EXPECT_THAT(error({.numa_node = "0", .cpus = "1"}),
              HasSubstr("--cpus excludes --numa_node"));
  EXPECT_THAT(error({.mem_policy = "local", .mem_nodes = "1"}),
              HasSubstr("--mem_nodes has no effect"));
}

TEST(ParseNodeArgumentsTest, NothingLeavesTheNameToTheSequencer) {
  const absl::StatusOr<NodeArguments> parsed = ParseNodeArguments({});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->preassigned_id, -1);
  EXPECT_THAT(parsed->attributes, IsEmpty());
}

TEST(ParseNodeArgumentsTest, NameComesFirstAndAttributesFollow) {
  const absl::StatusOr<NodeArguments> parsed = ParseNodeArguments(
      {"node12", "rack=a7", "node_type=big", "note=", "x=y=z"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->preassigned_id, 12);
  EXPECT_THAT(parsed->attributes,
              ElementsAre(Pair("rack", "a7"), Pair("node_type", "big"),
                          Pair("note", ""), Pair("x", "y=z")));
}

TEST(ParseNodeArgumentsTest, AttributeMayComeFirst) {
  const absl::StatusOr<NodeArguments> parsed = ParseNodeArguments({"node=1"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->preassigned_id, -1);
  EXPECT_THAT(parsed->attributes, ElementsAre(Pair("node", "1")));
}

class BadNodeArgumentsTest
    : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(BadNodeArgumentsTest, IsNamed) {
  const absl::Status status = ParseNodeArguments(GetParam()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr('"' + GetParam().back() + '"'));
}

INSTANTIATE_TEST_SUITE_P(
    Arguments, BadNodeArgumentsTest,
    testing::Values(
        std::vector<std::string>{"node"}, std::vector<std::string>{"node-1"},
        std::vector<std::string>{"node+1"}, std::vector<std::string>{"node 1"},
        std::vector<std::string>{"nodes"},
        std::vector<std::string>{"node100000"},
        std::vector<std::string>{"node99999999999"},
        std::vector<std::string>{"rack=a", "node1"},
        std::vector<std::string>{"node1", "node2"},
        std::vector<std::string>{"=value"}, std::vector<std::string>{""}));

}  // namespace
}  // namespace distbench::cli
