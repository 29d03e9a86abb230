// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/guardian.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/products/protection/control_groups/applied_controls.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "distbench/products/protection/control_groups/undo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kGenerous = absl::Seconds(20);

// Tells the guardian, another process, where the fake hierarchy is.
constexpr char kMountVariable[] = "DISTBENCH_TEST_FAKE_MOUNT";

// Returns whether something became true in time.
template <typename Condition>
bool Await(Condition condition) {
  const absl::Time deadline = absl::Now() + kGenerous;
  while (!condition()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

// The process that a process started; 0 if there is none.
pid_t ChildOf(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/task/", pid, "/children"));
  pid_t child = 0;
  file >> child;
  return child;
}

// A node manager in a process of its own: it has applied controls, and waits.
class GuardianTest : public testing::Test {
 protected:
  GuardianTest() {
    fake_.MakeGroup("/other");
    before_ = fake_.Snapshot();
    setenv(kMountVariable, fake_.mount().c_str(), 1);
  }

  ~GuardianTest() override {
    if (node_manager_ > 0) EndNodeManager(SIGKILL);
  }

  // Without its own process in the hierarchy, so that nothing of it is left.
  void StartNodeManager() {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    node_manager_ = fork();
    if (node_manager_ == 0) RunNodeManager(ends[1]);
    close(ends[1]);
    char is_ready = 0;
    ASSERT_EQ(read(ends[0], &is_ready, 1), 1);
    close(ends[0]);
    guardian_ = ChildOf(node_manager_);
    EXPECT_NE(fake_.Snapshot(), before_);
  }

  [[noreturn]] void RunNodeManager(int ready) {
    ControlSet set;
    ControlGroup& group = *set.add_groups();
    group.set_everything_else(true);
    group.set_cpu_weight(10);
    const ControlHost host = {
        .root = fake_.root(),
        .state_folder = fake_.state_folder(),
        .files = std::make_shared<FakeGroupFiles>(fake_.mount())};
    auto applied = AppliedControls::Apply(set, {{"server/0", "server"}}, host);
    if (!applied.ok()) _exit(1);
    if (write(ready, "r", 1) != 1) _exit(1);
    for (;;) pause();
  }

  void EndNodeManager(int signal) {
    kill(node_manager_, signal);
    waitpid(node_manager_, nullptr, 0);
    node_manager_ = 0;
  }

  bool IsRestored() const {
    return ListJournals(fake_.state_folder()).empty() &&
           fake_.Snapshot() == before_;
  }

  FakeHierarchy fake_;
  std::string before_;
  pid_t node_manager_ = 0;
  pid_t guardian_ = 0;
};

TEST_F(GuardianTest, RestoresWhenItsNodeManagerIsKilled) {
  StartNodeManager();
  EndNodeManager(SIGKILL);
  EXPECT_TRUE(Await([this] { return IsRestored(); }));
}

TEST_F(GuardianTest, OutlivesTheSignalsThatEndPrograms) {
  StartNodeManager();
  if (guardian_ == 0) GTEST_SKIP() << "this kernel does not tell children";
  EXPECT_EQ(getsid(guardian_), guardian_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) kill(guardian_, signal);
  EndNodeManager(SIGTERM);
  EXPECT_TRUE(Await([this] { return IsRestored(); }));
}

TEST_F(GuardianTest, TheNextNodeManagerStandsInForADeadGuardian) {
  StartNodeManager();
  if (guardian_ == 0) GTEST_SKIP() << "this kernel does not tell children";
  kill(guardian_, SIGKILL);
  // The node manager still holds its journal.
  RecoverAbandoned(fake_.root(), fake_.state_folder(), fake_.files());
  EXPECT_FALSE(IsRestored());
  EndNodeManager(SIGKILL);
  // The kernel closes the descriptors of killed processes when it gets to it.
  EXPECT_TRUE(Await([this] {
    RecoverAbandoned(fake_.root(), fake_.state_folder(), fake_.files());
    return IsRestored();
  }));
}

TEST_F(GuardianTest, EndsWhenItIsDismissed) {
  fake_.Write("/state/x", "");
  const auto journal =
      *Journal::Create(fake_.state_folder(), ThisHolder(fake_.root()));
  const auto guardian = StartGuardianProcess(journal->path());
  ASSERT_TRUE(guardian.ok()) << guardian.status();
  const pid_t pid = ChildOf(getpid());
  (*guardian)->Dismiss();
  EXPECT_THAT(ListJournals(fake_.state_folder()), SizeIs(1));
  // It has ended, and not been waited for.
  if (pid != 0) {
    siginfo_t end = {};
    ASSERT_EQ(waitid(P_PID, pid, &end, WEXITED | WNOHANG | WNOWAIT), 0);
    EXPECT_EQ(end.si_pid, pid);
  }
}

TEST_F(GuardianTest, ActsWhenItIsLetGoWithoutDismissal) {
  fake_.Write("/state/x", "");
  const auto journal =
      *Journal::Create(fake_.state_folder(), ThisHolder(fake_.root()));
  {
    const auto guardian = StartGuardianProcess(journal->path());
    ASSERT_TRUE(guardian.ok()) << guardian.status();
  }
  EXPECT_THAT(ListJournals(fake_.state_folder()), IsEmpty());
}

TEST_F(GuardianTest, SaysThatItCannotWatch) {
  const auto guardian = StartGuardianProcess(fake_.root() + "/nothing");
  EXPECT_EQ(guardian.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace distbench::protection

namespace distbench::protection {
namespace {

int Main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], kGuardianSubcommand) == 0) {
    FakeGroupFiles files(getenv(kMountVariable));
    return RunGuardian(
               base::FileDescriptor(base::ChildProgram::kInheritedNumber),
               argv[2], files)
                   .ok()
               ? 0
               : 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace distbench::protection

int main(int argc, char** argv) {
  return distbench::protection::Main(argc, argv);
}
