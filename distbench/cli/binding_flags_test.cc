#include "distbench/cli/binding_flags.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::cli {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace distbench::cli
