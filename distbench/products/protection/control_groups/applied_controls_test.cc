// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/applied_controls.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/protection/control_groups/journal.h"
#include "distbench/products/protection/control_groups/testing/applied_controls_fixture.h"
#include "distbench/products/protection/control_groups/undo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(AppliedControlsTest, MakesGroupsAndSettings) {
  const auto applied = Apply(R"(
    groups { services: "server" cpu_weight: 500 memory_high: "50%" }
    groups { services: "none" cpu_weight: 7 })");
  EXPECT_EQ(fake_.ReadGroup("/service/distbench.group-0/cpu.weight"), "500");
  EXPECT_EQ(fake_.ReadGroup("/service/distbench.group-0/memory.high"),
            "536870912");
  EXPECT_EQ(fake_.ReadGroup("/service/distbench.rest/cpu.weight"), "100");
  EXPECT_EQ(fake_.ReadGroup("/service/distbench.manager/cgroup.procs"),
            std::to_string(getpid()));
  EXPECT_EQ(fake_.ReadGroup("/service/cgroup.procs"), "");
  EXPECT_EQ(fake_.ReadGroup("/service/cgroup.subtree_control"),
            "cpu io memory");
  for (const char* leaf :
       {"group-0/0-server.0", "group-0/1-server.1", "rest/0-hog.0"}) {
    EXPECT_TRUE(Exists(fake_.mount() + "/service/distbench." + leaf)) << leaf;
  }
  EXPECT_FALSE(Exists(fake_.mount() + "/service/distbench.group-1"));
}

TEST_F(AppliedControlsTest, HasADescriptorForEachInstance) {
  const auto applied = Apply("groups { services: 'server' cpu_weight: 500 }");
  struct stat actual, wanted;
  ASSERT_EQ(fstat(applied->GroupOf("server/1"), &actual), 0);
  ASSERT_EQ(
      stat((fake_.mount() + "/service/distbench.group-0/1-server.1").c_str(),
           &wanted),
      0);
  EXPECT_EQ(actual.st_ino, wanted.st_ino);
  EXPECT_GE(applied->GroupOf("hog/0"), 0);
  EXPECT_EQ(applied->GroupOf("other/0"), -1);
}

TEST_F(AppliedControlsTest, ProvesWhatItDid) {
  const auto applied = Apply("groups { services: 'server' cpu_weight: 500 }");
  ASSERT_THAT(applied->proofs(), SizeIs(1));
  ControlProof proof = applied->proofs()[0];
  EXPECT_EQ(proof.group(), "server/0, server/1");
  EXPECT_EQ(proof.path(), "/service/distbench.group-0");
  EXPECT_EQ(proof.file(), "cpu.weight");
  EXPECT_EQ(proof.wanted(), "500");
  EXPECT_EQ(proof.before(), "100");
  EXPECT_EQ(proof.read_back(), "500");
  EXPECT_TRUE(proof.held());
  EXPECT_FALSE(proof.has_after());
  applied->Verify();
  ASSERT_TRUE(applied->Restore().ok());
  proof = applied->proofs()[0];
  EXPECT_TRUE(proof.held());
  EXPECT_EQ(proof.after(), "removed");
}

TEST_F(AppliedControlsTest, NoticesThatSomebodyChangedASetting) {
  const auto applied = Apply("groups { services: 'server' cpu_weight: 500 }");
  fake_.Write("/sys/fs/cgroup/service/distbench.group-0/cpu.weight", "7\n");
  applied->Verify();
  EXPECT_FALSE(applied->proofs()[0].held());
  EXPECT_THAT(applied->proofs()[0].problem(), HasSubstr("changed it to \"7\""));
}

TEST_F(AppliedControlsTest, NeighboursMayEndDuringATest) {
  fake_.MakeGroup("/other");
  const auto applied = Apply("groups { everything_else: true cpu_weight: 10 }");
  ASSERT_TRUE(files_->RemoveGroup(fake_.mount() + "/other").ok());
  applied->Verify();
  ASSERT_TRUE(applied->Restore().ok());
  EXPECT_TRUE(applied->proofs()[0].held());
  EXPECT_EQ(applied->proofs()[0].after(), "removed");
}

TEST_F(AppliedControlsTest, SaysThatNeighboursCameDuringATest) {
  fake_.MakeGroup("/other");
  const auto applied = Apply("groups { everything_else: true cpu_weight: 10 }");
  fake_.MakeGroup("/late");
  applied->Verify();
  applied->Verify();
  ASSERT_TRUE(applied->Restore().ok());
  ASSERT_THAT(applied->proofs(), SizeIs(2));
  EXPECT_TRUE(applied->proofs()[0].held());
  const ControlProof late = applied->proofs()[1];
  EXPECT_EQ(late.group(), "/late");
  EXPECT_EQ(late.file(), "cpu.weight");
  EXPECT_FALSE(late.held());
  EXPECT_THAT(late.problem(), HasSubstr("made during the test"));
  EXPECT_EQ(fake_.ReadGroup("/late/cpu.weight"), "100");
}

TEST_F(AppliedControlsTest, NewNeighboursDoNotMatterToGroupsOfTheTest) {
  const auto applied = Apply("groups { services: 'server' cpu_weight: 5 }");
  fake_.MakeGroup("/late");
  applied->Verify();
  EXPECT_THAT(applied->proofs(), SizeIs(1));
}

TEST_F(AppliedControlsTest, NoticesThatAGroupOfTheTestVanished) {
  const auto applied = Apply("groups { services: 'server' cpu_weight: 500 }");
  const std::string group = fake_.mount() + "/service/distbench.group-0";
  for (const char* folder : {"/0-server.0", "/1-server.1", ""}) {
    ASSERT_TRUE(files_->RemoveGroup(group + folder).ok()) << folder;
  }
  applied->Verify();
  EXPECT_FALSE(applied->proofs()[0].held());
}

TEST_F(AppliedControlsTest, SetsNoListsOfOthersThatItCouldNotEmptyAgain) {
  constexpr char kSet[] = "groups { everything_else: true cpuset_cpus: '0' }";
  fake_.MakeGroup("/other");
  fake_.AddProcess(5'000'001, 1, "other", "/other");
  EXPECT_THAT(Refusal(kSet), HasSubstr("/other/cpuset.cpus is empty"));
  fake_.Write("/sys/fs/cgroup/other/cpuset.cpus", "0-3\n");
  const auto applied = Apply(kSet);
  EXPECT_EQ(fake_.ReadGroup("/other/cpuset.cpus"), "0");
  ASSERT_TRUE(applied->Restore().ok());
  EXPECT_EQ(fake_.ReadGroup("/other/cpuset.cpus"), "0-3");
}

TEST_F(AppliedControlsTest, DoesNotTouchUnitsOfSystemd) {
  fake_.MakeGroup("/user.slice");
  fake_.Write("/run/systemd/system/x", "");
  EXPECT_THAT(Refusal("groups { everything_else: true cpu_weight: 10 }"),
              AllOf(HasSubstr("cpu.weight = \"10\" for /user.slice"),
                    HasSubstr("systemctl set-property --runtime")));
}

// systemd still owns the settings of the unit's own group.
TEST_F(AppliedControlsTest, DoesNotTouchDelegatedUnitsOfOthers) {
  fake_.MakeGroup("/docker.service");
  fake_.Write("/run/systemd/system/x", "");
  files_->delegated = {fake_.mount() + "/docker.service"};
  EXPECT_THAT(Refusal("groups { everything_else: true cpu_weight: 10 }"),
              HasSubstr("systemd manages /docker.service"));
}

TEST_F(AppliedControlsTest, AStrictSetNamesAllThatIsImpossible) {
  files_->before_change = [](const std::string& path) {
    return absl::EndsWith(path, "cpu.max") ? absl::ErrnoToStatus(EINVAL, path)
                                           : absl::OkStatus();
  };
  EXPECT_THAT(
      Refusal(R"(groups {
                services: "server"
                cpu_weight: 500
                cpu_max: "1"
                io_max { device: "nodisk" }
                io_priority_class: "idle"
              })"),
      AllOf(HasSubstr("cpu.max = \"100000 100000\" for server/0"),
            HasSubstr("no block device \"nodisk\""), HasSubstr("io.prio.class"),
            HasSubstr("strict: false"), testing::Not(HasSubstr("cpu.weight"))));
}

TEST_F(AppliedControlsTest, OtherwiseProofsSayIt) {
  const auto applied = Apply(R"(
    groups { services: "server" cpu_weight: 500 io_priority_class: "idle" }
    strict: false)");
  ASSERT_THAT(applied->proofs(), SizeIs(2));
  EXPECT_TRUE(applied->proofs()[0].held());
  EXPECT_FALSE(applied->proofs()[1].held());
  EXPECT_THAT(applied->proofs()[1].problem(),
              HasSubstr("distbench.group-0/io.prio.class"));
  EXPECT_GE(applied->GroupOf("server/0"), 0);
}

TEST_F(AppliedControlsTest, NamesAControllerThatIsNotPassedOn) {
  fake_.Write("/sys/fs/cgroup/service/cgroup.controllers", "cpu memory\n");
  EXPECT_THAT(Refusal("groups { services: 'server' io_weight: 10 }"),
              HasSubstr("the controller io is not passed on to the group of "
                        "the node manager, /service, which has cpu, memory"));
}

TEST_F(AppliedControlsTest, SaysThatAProtectionHasNoEffect) {
  EXPECT_THAT(Refusal("groups { services: 'server' memory_low: '4KiB' }"),
              HasSubstr("/service/memory.low, which is 0; set that to at least "
                        "4096"));
  fake_.Write("/sys/fs/cgroup/service/memory.low", "max\n");
  const auto applied =
      Apply("groups { services: 'server' memory_low: '4KiB' }");
  EXPECT_EQ(fake_.ReadGroup("/service/distbench.group-0/1-server.1/memory.low"),
            "4096");
  EXPECT_THAT(applied->proofs(), SizeIs(3));
}

// Half each of a protection that is enough for one of them.
TEST_F(AppliedControlsTest, SaysThatGroupsTogetherAreNotProtected) {
  constexpr char kSet[] = R"(
    groups { services: "server" memory_low: "8KiB" }
    groups { services: "hog" memory_low: "4KiB" })";
  fake_.Write("/sys/fs/cgroup/service/memory.low", "8192\n");
  EXPECT_THAT(Refusal(kSet),
              HasSubstr("which is 8192 and is divided among the test's groups; "
                        "set that to at least 12288, what they ask for "
                        "together"));
  fake_.Write("/sys/fs/cgroup/service/memory.low", "12288\n");
  EXPECT_TRUE(Apply(kSet)->proofs()[0].held());
}

TEST_F(AppliedControlsTest, SaysThatAListIsNotInEffect) {
  fake_.Write("/sys/fs/cgroup/service/cpuset.cpus", "0-1\n");
  EXPECT_THAT(Refusal("groups { services: 'server' cpuset_cpus: '1-2' }"),
              HasSubstr("in effect is 1 ("));
  EXPECT_THAT(Refusal("groups { services: 'server' cpuset_cpus: '2-3' }"),
              HasSubstr("in effect is 0-1 ("));
}

TEST_F(AppliedControlsTest, NoticesThatAListIsNoLongerInEffect) {
  const auto applied = Apply("groups { services: 'server' cpuset_cpus: '1' }");
  fake_.Write("/sys/fs/cgroup/service/cpuset.cpus", "0\n");
  applied->Verify();
  EXPECT_THAT(applied->proofs()[0].problem(), HasSubstr("in effect is 0 ("));
}

TEST_F(AppliedControlsTest, DoesNotMoveProcessesOfOthers) {
  fake_.AddProcess(5'000'001, 1, "sshd", "/service");
  EXPECT_THAT(Refusal("groups { services: 'server' cpu_weight: 5 }"),
              HasSubstr("also contains sshd (5000001), which must not be "
                        "moved"));
}

TEST_F(AppliedControlsTest, DoesNotMoveProcessesOfOtherNamespaces) {
  fake_.Write("/sys/fs/cgroup/service/cgroup.procs",
              absl::StrCat(getpid(), "\n0\n"));
  EXPECT_THAT(Refusal("groups { services: 'server' cpu_weight: 5 }"),
              HasSubstr("also contains a process of another pid namespace"));
}

TEST_F(AppliedControlsTest, MovesProcessesThatItStarted) {
  fake_.AddProcess(5'000'001, getpid(), "engine (idle)", "/service");
  fake_.AddProcess(5'000'002, 5'000'001, "child", "/service");
  const auto applied = Apply("groups { services: 'server' cpu_weight: 5 }");
  EXPECT_EQ(fake_.ReadGroup("/service/cgroup.procs"), "");
  ASSERT_TRUE(applied->Restore().ok());
  EXPECT_THAT(fake_.ReadGroup("/service/cgroup.procs"), HasSubstr("5000002"));
}

TEST_F(AppliedControlsTest, ExcludesOtherNodeManagers) {
  const auto applied = Apply("groups { services: 'server' cpu_weight: 5 }");
  const auto second = TryApply("groups { services: 'server' cpu_weight: 5 }");
  EXPECT_THAT(
      base::Message(second.status()),
      HasSubstr("/service is in use by process " + std::to_string(getpid())));
  EXPECT_EQ(fake_.ReadGroup("/service/distbench.group-0/cpu.weight"), "5");
}

TEST_F(AppliedControlsTest, DoesNotMoveTheNodeManagerOfAnotherStateFolder) {
  const auto applied = Apply("groups { services: 'server' cpu_weight: 5 }");
  const std::string before = fake_.Snapshot();
  host_.state_folder += "_2";
  EXPECT_THAT(
      base::Message(
          TryApply("groups { services: 'server' cpu_weight: 6 }").status()),
      HasSubstr("/service/distbench.manager exists already"));
  EXPECT_EQ(fake_.Snapshot(), before);
  EXPECT_THAT(ListJournals(host_.state_folder), IsEmpty());
}

TEST_F(AppliedControlsTest, ChangesNothingWithoutAGuardian) {
  host_.start_guardian = [](const std::string&) {
    return absl::StatusOr<std::unique_ptr<Guardian>>(
        absl::UnavailableError("no guardian"));
  };
  files_->before_change = [](const std::string& path) {
    ADD_FAILURE() << path;
    return absl::OkStatus();
  };
  EXPECT_THAT(Refusal("groups { services: 'server' cpu_weight: 5 }"),
              HasSubstr("no guardian"));
}

TEST_F(AppliedControlsTest, WithoutControlGroupsOnlyAStrictSetIsRefused) {
  fake_.Write("/proc/self/mountinfo", "");
  EXPECT_THAT(Refusal("groups { services: 'server' cpu_weight: 5 }"),
              HasSubstr("no hierarchy of version 2"));
  const auto applied =
      Apply("groups { services: 'server' cpu_weight: 5 } strict: false");
  EXPECT_EQ(applied->GroupOf("server/0"), -1);
  ASSERT_THAT(applied->proofs(), SizeIs(1));
  EXPECT_FALSE(applied->proofs()[0].held());
  EXPECT_FALSE(applied->proofs()[0].has_after());
  // A set without settings misses nothing.
  EXPECT_THAT(Apply("")->proofs(), IsEmpty());
}

TEST_F(AppliedControlsTest, TellsWhatGroupsUse) {
  const auto applied = Apply("groups { services: 'server' cpu_weight: 5 }");
  fake_.Write("/sys/fs/cgroup/service/distbench.rest/0-hog.0/cpu.stat",
              "usage_usec 9\n");
  auto use = applied->ReadUse();
  EXPECT_EQ(use.size(), 4u);
  EXPECT_EQ(use["hog/0"].cpu_ns(), 9'000);
  EXPECT_EQ(use[""].cpu_ns(), 0);
}

class ControlsAtTheRootTest : public AppliedControlsTest {
 protected:
  ControlsAtTheRootTest() : AppliedControlsTest("/") {}
};

TEST_F(ControlsAtTheRootTest, NeedNoGroupForTheNodeManager) {
  fake_.AddProcess(5'000'001, 1, "init", "/");
  const std::string before = fake_.Snapshot();
  const auto applied =
      Apply("groups { services: 'server' memory_low: '1GiB' }");
  EXPECT_FALSE(Exists(fake_.mount() + "/distbench.manager"));
  EXPECT_EQ(fake_.ReadGroup("/distbench.group-0/memory.low"), "1073741824");
  EXPECT_EQ(fake_.ReadGroup("/cgroup.procs"), "5000001");
  ASSERT_TRUE(applied->Restore().ok());
  EXPECT_EQ(fake_.Snapshot(), before);
}

TEST_F(ControlsAtTheRootTest, LeaveTheGroupsOfAnotherStateFolderAlone) {
  const auto applied = Apply("groups { services: 'server' cpu_weight: 5 }");
  fake_.AddProcess(5'000'001, 1, "engine", "/distbench.group-0/0-server.0");
  host_.state_folder += "_2";
  const auto second = TryApply("groups { services: 'server' cpu_weight: 6 }");
  EXPECT_THAT(base::Message(second.status()),
              HasSubstr("with another --control_state_dir"));
  EXPECT_EQ(fake_.ReadGroup("/distbench.group-0/0-server.0/cgroup.procs"),
            "5000001");
}

}  // namespace

// Tests that controls leave a host as it was, whatever happens meanwhile.

namespace {

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
