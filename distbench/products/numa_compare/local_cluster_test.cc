#include "distbench/products/numa_compare/local_cluster.h"

#include <signal.h>

#include <cerrno>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::numa_compare {
namespace {

using ::testing::HasSubstr;

absl::Time Deadline() { return absl::Now() + absl::Seconds(60); }

std::unique_ptr<ServerProcess> Shell(const std::string& script) {
  auto child = ServerProcess::Start({"/bin/sh", "-c", script});
  EXPECT_TRUE(child.ok()) << child.status();
  return *std::move(child);
}

TEST(ServerProcessTest, FindsLinesOfItsOutput) {
  const auto child = Shell("echo first; echo second line >&2; sleep 600");
  EXPECT_EQ(*child->WaitForLine("second", Deadline()), "second line");
  EXPECT_EQ(*child->WaitForLine("first", Deadline()), "first");
}

TEST(ServerProcessTest, TellsWhatWasSaidInstead) {
  const auto child = Shell("echo oh no; exit 1");
  const absl::Status status = child->WaitForLine("ready", Deadline()).status();
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("its output: oh no"));
}

TEST(ServerProcessTest, DoesNotWaitForEver) {
  const auto child = Shell("sleep 600");
  EXPECT_FALSE(
      child->WaitForLine("x", absl::Now() + absl::Milliseconds(20)).ok());
}

TEST(ServerProcessTest, IsGoneAfterwards) {
  int pid = 0;
  {
    const auto child = Shell("echo $$; exec sleep 600");
    ASSERT_TRUE(absl::SimpleAtoi(*child->WaitForLine("", Deadline()), &pid));
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(ServerProcessTest, MissingProgramsSayNothing) {
  auto child = ServerProcess::Start({"/no/such/program"});
  ASSERT_TRUE(child.ok());
  EXPECT_FALSE((*child)->WaitForLine("x", Deadline()).ok());
}

}  // namespace
}  // namespace distbench::numa_compare
