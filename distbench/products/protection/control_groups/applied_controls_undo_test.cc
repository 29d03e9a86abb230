// Tests that controls leave a host as it was, whatever happens meanwhile.

#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/protection/control_groups/recovery.h"
#include "distbench/products/protection/control_groups/state_folder.h"
#include "distbench/products/protection/control_groups/testing/applied_controls_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(AppliedControlsTest, RestoresEverything) {
  fake_.MakeGroup("/other");
  fake_.Write("/sys/fs/cgroup/other/io.max",
              "8:0 rbps=5 riops=max wbps=max wiops=max\n");
  fake_.AddProcess(5'000'001, getpid(), "engine", "/service");
  const std::string before = fake_.Snapshot();
  const auto applied = Apply(R"(
    groups { services: "server" cpuset_cpus: "0-1" memory_low: "max" }
    groups {
      everything_else: true
      cpu_weight: 10
      io_max { device: "disk0" write_bytes: "1MB" }
    }
    io_cost { device: "disk0" enable: true model { rbps: 7 } qos { rpct: 95 } }
    strict: false)");
  EXPECT_EQ(fake_.ReadGroup("/other/cpu.weight"), "10");
  EXPECT_THAT(fake_.ReadGroup("/io.cost.qos"), HasSubstr("enable=1"));
  ASSERT_TRUE(applied->Restore().ok());
  EXPECT_THAT(fake_.ReadGroup("/io.cost.qos"),
              AllOf(HasSubstr("enable=0"), HasSubstr("ctrl=auto")));
  EXPECT_THAT(fake_.ReadGroup("/io.cost.model"), HasSubstr("ctrl=auto"));
  // The kernel keeps the lines.
  fake_.Write("/sys/fs/cgroup/io.cost.qos", "");
  fake_.Write("/sys/fs/cgroup/io.cost.model", "");
  EXPECT_EQ(fake_.Snapshot(), before);
  EXPECT_THAT(ListJournals(fake_.state_folder()), IsEmpty());
  EXPECT_TRUE(applied->Restore().ok());
}

TEST_F(AppliedControlsTest, LeavesWhatOthersChangedMeanwhile) {
  fake_.MakeGroup("/other");
  const auto applied = Apply("groups { everything_else: true cpu_weight: 10 }");
  fake_.Write("/sys/fs/cgroup/other/cpu.weight", "77\n");
  ASSERT_TRUE(applied->Restore().ok());
  EXPECT_EQ(fake_.ReadGroup("/other/cpu.weight"), "77");
  EXPECT_EQ(applied->proofs()[0].after(), "left");
}

TEST_F(AppliedControlsTest, RestoresWhatTheKernelMadeOfAValue) {
  fake_.MakeGroup("/other");
  EXPECT_THAT(Refusal(R"(groups {
                everything_else: true
                io_max {
                  device: "disk0"
                  write_bytes: "1MB"
                  read_operations: 5000000000
                }
              })"),
              HasSubstr("accepted another value"));
}

// Dies at each change in turn, when the change has been announced but not made,
// and lets the next node manager undo the rest.
TEST_F(AppliedControlsTest, CanBeUndoneAfterADeathAtAnyChange) {
  fake_.RemoveProcess(getpid());
  fake_.MakeGroup("/other");
  fake_.Write("/sys/fs/cgroup/service/memory.low", "max\n");
  const std::string before = fake_.Snapshot();
  bool has_ended = false;
  int changes = 0;
  for (; !has_ended; ++changes) {
    const pid_t child = fork();
    if (child == 0) {
      fake_.AddProcess(getpid(), 1, "distbench", "/service");
      files_->before_change = [left = changes](const std::string&) mutable {
        if (left-- == 0) _exit(1);
        return absl::OkStatus();
      };
      const auto applied = Apply(R"(
        groups { services: "server" cpu_weight: 5 memory_low: "1GiB" }
        groups { everything_else: true cpu_weight: 10 })");
      _exit(applied->Restore().ok() ? 0 : 2);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << status;
    ASSERT_NE(WEXITSTATUS(status), 2);
    has_ended = WEXITSTATUS(status) == 0;
    RecoverAbandoned(host_.root, host_.state_folder, *files_);
    fake_.RemoveProcess(child);
    EXPECT_EQ(fake_.Snapshot(), before) << "after " << changes << " changes";
    EXPECT_THAT(ListJournals(fake_.state_folder()), IsEmpty());
  }
  EXPECT_GT(changes, 20);
}

TEST_F(AppliedControlsTest, DiscardsAJournalOfAnotherBoot) {
  fake_.RemoveProcess(getpid());
  const pid_t child = fork();
  if (child == 0) {
    Apply("groups { services: 'server' cpu_weight: 5 }").release();
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  fake_.Write("/proc/sys/kernel/random/boot_id", "boot-2\n");
  EXPECT_THAT(RecoverAbandoned(host_.root, host_.state_folder, *files_),
              IsEmpty());
  EXPECT_THAT(ListJournals(fake_.state_folder()), IsEmpty());
  EXPECT_TRUE(Exists(fake_.mount() + "/service/distbench.group-0"));
}

TEST_F(AppliedControlsTest, KeepsAJournalOfWhatCouldNotBeUndone) {
  auto applied = Apply("groups { services: 'server' cpu_weight: 5 }");
  files_->before_change = [](const std::string& path) {
    return absl::EndsWith(path, "/cgroup.subtree_control")
               ? absl::PermissionDeniedError(path)
               : absl::OkStatus();
  };
  EXPECT_THAT(base::Message(applied->Restore()),
              HasSubstr("remain for the next test to try again"));
  EXPECT_THAT(ListJournals(fake_.state_folder()), SizeIs(1));
  files_->before_change = nullptr;
  RecoverAbandoned(host_.root, host_.state_folder, *files_);
  EXPECT_THAT(ListJournals(fake_.state_folder()), IsEmpty());
  EXPECT_FALSE(Exists(fake_.mount() + "/service/distbench.manager"));
}

TEST_F(AppliedControlsTest, UndoesTheNewestJournalFirst) {
  fake_.MakeGroup("/other");
  ASSERT_TRUE(MakeStateFolder(fake_.state_folder()).ok());
  fake_.Write("/sys/fs/cgroup/other/cpu.weight", "300\n");
  std::string before = "100";
  // The older one could not be undone when the second began.
  for (const std::string value : {"200", "300"}) {
    JournalHolder holder = ThisHolder(host_.root);
    holder.pid = value == "200" ? 1 : 2;
    const auto journal = *Journal::Create(fake_.state_folder(), holder);
    ASSERT_TRUE(journal
                    ->Append({.kind = JournalRecord::Kind::kValue,
                              .folder = fake_.mount() + "/other",
                              .file = "cpu.weight",
                              .value = value,
                              .before = before})
                    .ok());
    before = value;
  }
  RecoverAbandoned(host_.root, host_.state_folder, *files_);
  EXPECT_EQ(fake_.ReadGroup("/other/cpu.weight"), "100");
}

}  // namespace
}  // namespace distbench::protection
