// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/processes.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "distbench/base/child_process.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Numbers that no kernel gives out.
constexpr pid_t kFirst = 5'000'001;
constexpr pid_t kSecond = 5'000'002;

class ProcessesTest : public testing::Test {
 protected:
  ProcessesTest() {
    host_.MakeGroup("/to");
    host_.AddProcess(kFirst, getpid(), "first", "/service");
  }

  std::vector<pid_t> In(const std::string& path) {
    return ProcessesOf(host_.mount() + path, host_.files()).value();
  }

  absl::Status Move() { return MoveProcesses(from_, to_, host_.files()); }

  FakeHierarchy host_;
  const std::string from_ = host_.mount() + "/service";
  const std::string to_ = host_.mount() + "/to";
};

TEST_F(ProcessesTest, MoveIncludingThoseThatStartMeanwhile) {
  bool has_started = false;
  host_.files().before_change = [&](const std::string&) {
    if (!has_started) {
      has_started = true;
      host_.AddProcess(kSecond, kFirst, "second", "/service");
    }
    return absl::OkStatus();
  };
  ASSERT_TRUE(Move().ok());
  EXPECT_THAT(In("/service"), IsEmpty());
  EXPECT_THAT(In("/to"), ElementsAre(kFirst, kSecond));
}

TEST_F(ProcessesTest, MayStartTooFast) {
  // Whatever moves away is there again.
  EXPECT_THAT(base::Message(MoveProcesses(from_, from_, host_.files())),
              HasSubstr("faster than they can be moved"));
}

TEST_F(ProcessesTest, MayEndWhileTheyAreMoved) {
  host_.files().before_change = [this](const std::string& path) {
    host_.RemoveProcess(kFirst);
    return absl::ErrnoToStatus(ESRCH, path);
  };
  EXPECT_TRUE(Move().ok());
}

TEST_F(ProcessesTest, CannotMoveWithoutPermission) {
  host_.Write("/sys/fs/cgroup/service/cgroup.procs",
              absl::StrCat(getpid(), "\n"));
  host_.files().before_change = [](const std::string& path) {
    return absl::PermissionDeniedError(path);
  };
  EXPECT_EQ(Move().code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(ProcessesTest, AreKilledOneByOneOnOldKernels) {
  auto child = base::ChildProcess::Start(
      {.path = "/bin/sleep", .arguments = {"sleep", "600"}});
  ASSERT_TRUE(child.ok()) << child.status();
  host_.Write("/sys/fs/cgroup/to/cgroup.procs",
              absl::StrCat(child->pid(), "\n0\n"));
  ASSERT_EQ(unlink((to_ + "/cgroup.kill").c_str()), 0);
  // The fake's processes do not leave their group when they die.
  EXPECT_FALSE(
      EndAndRemoveGroup(to_, host_.files(), absl::ZeroDuration()).ok());
  EXPECT_TRUE(child->HasEnded(absl::Seconds(20)));
  EXPECT_EQ(WTERMSIG(child->Finish()), SIGKILL);
}

TEST_F(ProcessesTest, OfGroupsThatDoNotExistNeedNothing) {
  const std::string none = host_.mount() + "/none";
  EXPECT_TRUE(
      EndAndRemoveGroup(none, host_.files(), absl::ZeroDuration()).ok());
  EXPECT_TRUE(LeaveGroup(none, to_, host_.files()).ok());
  EXPECT_EQ(ProcessesOf(none, host_.files()).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace distbench::protection
