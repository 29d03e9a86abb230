// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/antagonists/fork_storm.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::HasSubstr;

// Whether this process has children, dead or alive.
bool HasChildren() {
  return waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD;
}

std::string Script(const std::string& name, const std::string& command) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path) << "#!/bin/sh\n" << command << "\n";
  EXPECT_EQ(chmod(path.c_str(), S_IRWXU), 0);
  return path;
}

activity::Work StormOf(const ForkStormOptions& options) {
  auto storm = MakeForkStorm(options);
  EXPECT_TRUE(storm.ok()) << storm.status();
  const activity::Work work = activity::DoIteration(**storm, 0);
  EXPECT_FALSE(HasChildren());
  return work;
}

TEST(ForkStormTest, CountsChildrenThatSucceed) {
  const activity::Work plain =
      StormOf({.children = 5, .clock = &base::RealClock()});
  EXPECT_GT(plain.operations, 0);  // all of them, if the host is not too slow
  EXPECT_EQ(plain.failed_operations, 0);
  EXPECT_EQ(StormOf({.children = 1, .program = "/bin/true"}).operations, 1);
}

TEST(ForkStormTest, CanBeRepeated) {
  auto storm = MakeForkStorm({.children = 1});
  ASSERT_TRUE(storm.ok()) << storm.status();
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(activity::DoIteration(**storm, i).operations, 1);
  EXPECT_FALSE(HasChildren());
}

TEST(ForkStormTest, CountsChildrenThatFail) {
  const activity::Work work =
      StormOf({.children = 1, .program = Script("failing", "exit 3")});
  EXPECT_EQ(work.operations, 0);
  EXPECT_EQ(work.failed_operations, 1);
}

TEST(ForkStormTest, KillsChildrenThatDoNotEnd) {
  const activity::Work work =
      StormOf({.children = 1,
               .program = Script("hanging", "exec sleep 1000"),
               .patience_ns = 0});
  EXPECT_EQ(work.operations, 0);
  EXPECT_EQ(work.failed_operations, 1);
}

TEST(ForkStormTest, AProgramThatIsMissingIsAnError) {
  const auto storm = MakeForkStorm({.program = "/no/such/program"});
  EXPECT_THAT(storm.status().ToString(),
              HasSubstr("cannot execute /no/such/program; install it, or set "
                        "program to \"none\""));
}

// Advances with each look at it.
class FastClock final : public base::Clock {
 public:
  int64_t MonotonicNs() const override {
    return now_ns_ += activity::kLongestIterationNs / 4;
  }
  int64_t UnixNs() const override { return 0; }

 private:
  mutable int64_t now_ns_ = 0;
};

TEST(ForkStormTest, StartsNoMoreWhenItsTimeIsOver) {
  const FastClock clock;
  EXPECT_EQ(StormOf({.children = 1000, .clock = &clock}).operations, 4);
}

}  // namespace
}  // namespace distbench::protection
