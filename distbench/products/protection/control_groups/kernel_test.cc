// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Controls with the kernel's control groups, where this process may use them:
// as root in the root group of a host without systemd, such as an emulated
// machine, or in a delegated group that contains nothing else. Skipped
// elsewhere.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/products/protection/control_groups/applied_controls.h"
#include "distbench/products/protection/control_groups/hierarchy.h"
#include "distbench/products/protection/control_groups/processes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kGenerous = absl::Seconds(60);

class KernelTest : public testing::Test {
 protected:
  void SetUp() override {
    auto found = FindHierarchy("", files_);
    if (!found.ok()) GTEST_SKIP() << found.status().message();
    hierarchy_ = *std::move(found);
    const absl::Status alone =
        CheckOwnProcesses("", hierarchy_.DelegatedFolder(), files_);
    if (!hierarchy_.is_host_root && !alone.ok()) {
      GTEST_SKIP() << alone.message();
    }
    state_folder_ = absl::StrCat("/tmp/distbench-kernel-test-", getpid());
    children_before_ = Children();
    passed_on_before_ = PassedOn();
  }

  void TearDown() override {
    if (!state_folder_.empty()) std::filesystem::remove_all(state_folder_);
  }

  absl::StatusOr<std::unique_ptr<AppliedControls>> Apply() const {
    ControlSet set;
    ControlGroup& group = *set.add_groups();
    group.add_services("server");
    group.set_cpu_weight(500);
    group.set_cpu_max("0.5");
    group.set_memory_high("25%");
    group.set_memory_max("64MiB");
    return AppliedControls::Apply(set, {{"server/0", "server"}},
                                  {.state_folder = state_folder_});
  }

  std::vector<std::string> Children() const {
    return *files_.Children(hierarchy_.DelegatedFolder());
  }

  std::string PassedOn() const {
    return base::FirstLine(hierarchy_.DelegatedFolder() +
                           "/cgroup.subtree_control");
  }

  void ExpectRestored() const {
    EXPECT_EQ(Children(), children_before_);
    EXPECT_EQ(PassedOn(), passed_on_before_);
    EXPECT_TRUE(ListJournals(state_folder_).empty());
  }

  KernelGroupFiles files_;
  GroupHierarchy hierarchy_;
  std::string state_folder_;
  std::vector<std::string> children_before_;
  std::string passed_on_before_;
};

TEST_F(KernelTest, MakesGroupsStartsProcessesInThemAndRemovesThem) {
  auto applied = Apply();
  ASSERT_TRUE(applied.ok()) << applied.status();
  for (const ControlProof& proof : (*applied)->proofs()) {
    EXPECT_TRUE(proof.held()) << proof.DebugString();
    EXPECT_EQ(proof.read_back(), proof.wanted());
  }
  auto child =
      base::ChildProcess::Start({.path = "/bin/sleep",
                                 .arguments = {"sleep", "600"},
                                 .group = (*applied)->GroupOf("server/0")});
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_THAT(base::FirstLine(absl::StrCat("/proc/", child->pid(), "/cgroup")),
              HasSubstr("/distbench.group-0/0-server.0"));
  EXPECT_GT((*applied)->ReadUse()["server/0"].memory_bytes(), 0);
  (*applied)->Verify();
  ASSERT_TRUE((*applied)->Restore().ok());
  for (const ControlProof& proof : (*applied)->proofs()) {
    EXPECT_TRUE(proof.held()) << proof.DebugString();
    EXPECT_EQ(proof.after(), "removed");
  }
  EXPECT_TRUE(child->HasEnded(kGenerous));
  ExpectRestored();
}

TEST_F(KernelTest, RestoresAfterTheDeathOfTheNodeManager) {
  if (!hierarchy_.is_host_root) {
    GTEST_SKIP() << "the test and its node manager share a group";
  }
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t node_manager = fork();
  if (node_manager == 0) {
    auto applied = Apply();
    const auto child =
        base::ChildProcess::Start({.path = "/bin/sleep",
                                   .arguments = {"sleep", "600"},
                                   .group = (*applied)->GroupOf("server/0")});
    if (!child.ok() || write(ends[1], "r", 1) != 1) _exit(1);
    for (;;) pause();
  }
  close(ends[1]);
  char is_ready = 0;
  EXPECT_EQ(read(ends[0], &is_ready, 1), 1);
  close(ends[0]);
  EXPECT_NE(Children(), children_before_);
  kill(node_manager, SIGKILL);
  waitpid(node_manager, nullptr, 0);
  const absl::Time deadline = absl::Now() + kGenerous;
  while (!ListJournals(state_folder_).empty() && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  ExpectRestored();
}

}  // namespace
}  // namespace distbench::protection

namespace distbench::protection {
namespace {

int Main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], kGuardianSubcommand) == 0) {
    KernelGroupFiles files;
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
