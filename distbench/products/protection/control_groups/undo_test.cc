// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/undo.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/child_process.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Kind = JournalRecord::Kind;

constexpr absl::Duration kPatience = absl::Seconds(20);

class UndoTest : public testing::Test {
 protected:
  UndoTest() { host_.MakeGroup("/other"); }

  JournalRecord Value(const std::string& value) const {
    return {.kind = Kind::kValue,
            .folder = host_.mount() + "/other",
            .file = "cpu.weight",
            .value = value,
            .before = "100"};
  }

  void Say(const std::string& value) {
    host_.Write("/sys/fs/cgroup/other/cpu.weight", value + "\n");
  }

  UndoReport Undone(const std::vector<JournalRecord>& records) {
    return Undo(records, host_.files(), kPatience);
  }

  std::vector<std::string> After(const JournalRecord& record) {
    const UndoReport report = Undone({record});
    EXPECT_THAT(report.problems, IsEmpty());
    std::vector<std::string> after;
    for (const UndoneValue& value : report.values) after.push_back(value.after);
    return after;
  }

  FakeHierarchy host_;
};

TEST_F(UndoTest, RestoresAValue) {
  Say("500");
  EXPECT_THAT(After(Value("500")), ElementsAre("restored"));
  EXPECT_EQ(host_.ReadGroup("/other/cpu.weight"), "100");
}

TEST_F(UndoTest, LeavesAValueThatOthersChanged) {
  Say("300");
  const UndoReport report = Undone({Value("500")});
  EXPECT_EQ(report.values.at(0).after, "left");
  EXPECT_THAT(report.left, ElementsAre(HasSubstr("says \"300\"")));
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(host_.ReadGroup("/other/cpu.weight"), "300");
}

TEST_F(UndoTest, NeedNotHaveBeenWritten) {
  host_.files().before_change = [](const std::string& path) {
    return absl::InternalError(path);
  };
  EXPECT_THAT(After(Value("500")), ElementsAre("restored"));
}

TEST_F(UndoTest, KillsAllBeforeItWaitsForAny) {
  std::vector<JournalRecord> records;
  for (const char* name : {"/other/a", "/other/b"}) {
    host_.MakeGroup(name);
    records.push_back({.kind = Kind::kGroup, .folder = host_.mount() + name});
  }
  std::vector<std::string> changes;
  host_.files().before_change = [&](const std::string& path) {
    changes.push_back(path);
    return absl::OkStatus();
  };
  EXPECT_THAT(Undone(records).problems, IsEmpty());
  const auto place = [&](const std::string& path) {
    return std::find(changes.begin(), changes.end(), host_.mount() + path) -
           changes.begin();
  };
  EXPECT_LT(place("/other/a/cgroup.kill"), place("/other/b"));
  EXPECT_EQ(changes.back(), host_.mount() + "/other/a");
}

TEST_F(UndoTest, GroupsShareTheTimeToDie) {
  std::vector<JournalRecord> records;
  for (const char* name : {"/other/a", "/other/b", "/other/c"}) {
    host_.MakeGroup(name);
    records.push_back({.kind = Kind::kGroup, .folder = host_.mount() + name});
  }
  std::map<std::string, int> attempts;
  host_.files().before_change = [&](const std::string& path) {
    ++attempts[path];
    return absl::UnavailableError("busy");
  };
  EXPECT_EQ(
      Undo(records, host_.files(), absl::Milliseconds(50)).problems.size(), 3u);
  // The one before them has used up the time.
  EXPECT_EQ(attempts[records[0].folder], 1);
  EXPECT_EQ(attempts[records[1].folder], 1);
}

TEST_F(UndoTest, TheGroupMayBeGone) {
  ASSERT_TRUE(host_.files().RemoveGroup(host_.mount() + "/other").ok());
  EXPECT_THAT(After(Value("500")), ElementsAre("removed"));
}

TEST_F(UndoTest, GoesBackwards) {
  JournalRecord second = Value("700");
  second.before = "500";
  Say("700");
  EXPECT_THAT(Undone({Value("500"), second}).left, IsEmpty());
  EXPECT_EQ(host_.ReadGroup("/other/cpu.weight"), "100");
}

TEST_F(UndoTest, DoesTheRestWhenAPartFails) {
  host_.MakeGroup("/third");
  host_.files().before_change = [](const std::string& path) {
    return path.find("/other/") == std::string::npos
               ? absl::OkStatus()
               : absl::PermissionDeniedError(path);
  };
  Say("500");
  JournalRecord group = {.kind = Kind::kGroup,
                         .folder = host_.mount() + "/third"};
  const UndoReport report = Undone({group, Value("500")});
  EXPECT_EQ(report.problems.size(), 1u);
  EXPECT_FALSE(Exists(group.folder));
}

TEST_F(UndoTest, KillsWhatIsInItsGroups) {
  auto child = base::ChildProcess::Start(
      {.path = "/bin/sleep", .arguments = {"sleep", "600"}});
  ASSERT_TRUE(child.ok()) << child.status();
  host_.MakeGroup("/ours");
  host_.MakeGroup("/ours/leaf");
  const std::string leaf = host_.mount() + "/ours/leaf";
  ASSERT_TRUE(host_.files()
                  .Write(leaf + "/cgroup.procs", absl::StrCat(child->pid()))
                  .ok());
  const UndoReport report =
      Undone({{.kind = Kind::kGroup, .folder = host_.mount() + "/ours"},
              {.kind = Kind::kGroup, .folder = leaf}});
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_TRUE(child->HasEnded(kPatience));
  EXPECT_EQ(WTERMSIG(child->Finish()), SIGKILL);
  EXPECT_FALSE(Exists(host_.mount() + "/ours"));
}

TEST_F(UndoTest, RemovesGroupsThatWereMadeBelowItsOwn) {
  host_.MakeGroup("/ours");
  host_.MakeGroup("/ours/a");
  host_.MakeGroup("/ours/a/b");
  EXPECT_THAT(
      Undone({{.kind = Kind::kGroup, .folder = host_.mount() + "/ours"}})
          .problems,
      IsEmpty());
  EXPECT_FALSE(Exists(host_.mount() + "/ours"));
}

TEST_F(UndoTest, GivesUpOnWhatDoesNotDie) {
  host_.MakeGroup("/ours");
  host_.files().before_change = [](const std::string& path) {
    return absl::FailedPreconditionError(path);
  };
  const std::vector<JournalRecord> records = {
      {.kind = Kind::kGroup, .folder = host_.mount() + "/ours"}};
  const UndoReport report = Undo(records, host_.files(), absl::ZeroDuration());
  EXPECT_THAT(report.problems, ElementsAre(HasSubstr("/ours")));
}

TEST_F(UndoTest, MovesProcessesBackAndStopsPassingOn) {
  const std::string service = host_.mount() + "/service";
  host_.AddProcess(5'000'001, 1, "a", "/service");
  const std::string with_process = host_.Snapshot();
  host_.MakeGroup("/service/distbench.manager");
  auto& files = host_.files();
  const std::string manager = service + "/distbench.manager";
  ASSERT_TRUE(files.Write(manager + "/cgroup.procs", "5000001").ok());
  ASSERT_TRUE(
      files.Write(service + "/cgroup.subtree_control", "+cpu +io").ok());
  const std::vector<JournalRecord> records = {
      {.kind = Kind::kManager, .folder = manager, .before = service},
      {.kind = Kind::kControllers,
       .folder = service,
       .value = "cpu io memory"}};
  EXPECT_THAT(Undone(records).problems, IsEmpty());
  EXPECT_EQ(host_.Snapshot(), with_process);
  EXPECT_THAT(Undone(records).problems, IsEmpty());  // may be repeated
}

}  // namespace
}  // namespace distbench::protection
