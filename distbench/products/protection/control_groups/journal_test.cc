// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <random>
#include <thread>

#include "distbench/base/testing/status_testing.h"
#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Kind = JournalRecord::Kind;

JournalHolder Holder() {
  return {.boot_id = "boot-1", .pid = 7, .start = absl::FromUnixSeconds(99)};
}

std::string RandomText(std::mt19937& random) {
  constexpr char kCharacters[] = "ab/ =:\t\n\\\"%\x01\xff";
  std::string text;
  for (int i = random() % 12; i > 0; --i) {
    text += kCharacters[random() % (sizeof(kCharacters) - 1)];
  }
  return text;
}

JournalRecord RandomRecord(std::mt19937& random) {
  return {.kind = static_cast<Kind>(random() % 5),
          .folder = RandomText(random),
          .file = RandomText(random),
          .value = RandomText(random),
          .before = RandomText(random)};
}

struct Example {
  std::vector<JournalRecord> records;
  std::string text = FormatLine(Holder());
  std::vector<size_t> ends = {text.size()};  // of each line
};

Example RandomExample(unsigned seed) {
  std::mt19937 random(seed);
  Example example;
  for (int i = random() % 6; i > 0; --i) {
    example.records.push_back(RandomRecord(random));
    example.text += FormatLine(example.records.back());
    example.ends.push_back(example.text.size());
  }
  return example;
}

// The first records, one for each line after the first that ends by `size`.
std::vector<JournalRecord> WholeRecords(const Example& example, size_t size) {
  std::vector<JournalRecord> records;
  for (size_t i = 0; i < example.records.size(); ++i) {
    if (example.ends[i + 1] <= size) records.push_back(example.records[i]);
  }
  return records;
}

TEST(JournalTextTest, IsReadAsItWasWritten) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Example example = RandomExample(seed);
    const JournalContents contents = ParseJournal(example.text);
    ASSERT_TRUE(contents.holder.has_value());
    EXPECT_EQ(contents.holder->ToString(),
              "process 7 (since 1970-01-01 00:01:39 UTC)");
    EXPECT_EQ(contents.holder->boot_id, "boot-1");
    EXPECT_EQ(contents.records, example.records);
  }
}

TEST(JournalTextTest, MayBeCutOffAnywhere) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Example example = RandomExample(seed);
    for (size_t size = 0; size <= example.text.size(); ++size) {
      const JournalContents contents =
          ParseJournal(absl::string_view(example.text).substr(0, size));
      EXPECT_EQ(contents.holder.has_value(), size >= example.ends[0]);
      EXPECT_EQ(contents.records, WholeRecords(example, size));
    }
  }
}

TEST(JournalTextTest, EndsAtTheFirstDamage) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Example example = RandomExample(seed);
    for (size_t at = 0; at < example.text.size(); ++at) {
      std::string damaged = example.text;
      damaged[at] ^= 4;
      const JournalContents contents = ParseJournal(damaged);
      EXPECT_EQ(contents.holder.has_value(), at >= example.ends[0]);
      EXPECT_EQ(contents.records, WholeRecords(example, at));
    }
  }
}

TEST(JournalTextTest, MayBeAnything) {
  std::mt19937 random(1);
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_FALSE(ParseJournal(RandomText(random)).holder.has_value());
  }
}

class JournalTest : public testing::Test {
 protected:
  JournalTest() { host_.Write("/state/x", ""); }

  std::unique_ptr<Journal> Create() {
    auto journal = Journal::Create(host_.state_folder(), Holder());
    EXPECT_TRUE(journal.ok()) << journal.status();
    return *std::move(journal);
  }

  const FakeHierarchy host_;
  const JournalRecord record_ = {.kind = Kind::kGroup, .folder = "/a"};
};

TEST_F(JournalTest, IsReadAsItWasWritten) {
  const auto journal = Create();
  ASSERT_TRUE(journal->Append(record_).ok());
  EXPECT_THAT(journal->Read()->records, ElementsAre(record_));
  EXPECT_THAT(ListJournals(host_.state_folder()), ElementsAre(journal->path()));
}

TEST_F(JournalTest, IsOnDiskBeforeAppendReturns) {
  static int syncs = 0;
  syncs = 0;
  const auto journal = Journal::Create(host_.state_folder(), Holder(),
                                       [](int) { return ++syncs, 0; });
  EXPECT_EQ(syncs, 2);  // the file and its folder
  ASSERT_TRUE((*journal)->Append(record_).ok());
  EXPECT_EQ(syncs, 3);
}

TEST_F(JournalTest, FailsIfItCannotBeOnDisk) {
  EXPECT_FALSE(Journal::Create(host_.state_folder(), Holder(), [](int) {
                 return errno = EIO, -1;
               }).ok());
  EXPECT_THAT(ListJournals(host_.state_folder()), IsEmpty());
}

TEST_F(JournalTest, IsAbandonedOnlyWhenNobodyHoldsIt) {
  auto journal = Create();
  const std::string path = journal->path();
  auto guardians = Journal::Join(path);
  ASSERT_TRUE(guardians.ok()) << guardians.status();
  EXPECT_EQ(Journal::TakeAbandoned(path), nullptr);
  journal.reset();
  EXPECT_EQ(Journal::TakeAbandoned(path), nullptr);
  guardians->reset();
  const auto abandoned = Journal::TakeAbandoned(path);
  ASSERT_NE(abandoned, nullptr);
  EXPECT_EQ(Journal::TakeAbandoned(path), nullptr);
  EXPECT_FALSE(Journal::Join(path).ok());
  ASSERT_TRUE(abandoned->Remove().ok());
  EXPECT_EQ(Journal::TakeAbandoned(path), nullptr);
  EXPECT_THAT(ListJournals(host_.state_folder()), IsEmpty());
}

TEST_F(JournalTest, IsAbandonedWhenItsProcessDies) {
  const pid_t child = fork();
  if (child == 0) {
    Create().release();
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const auto paths = ListJournals(host_.state_folder());
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_NE(Journal::TakeAbandoned(paths[0]), nullptr);
}

class StateFolderTest : public testing::Test {
 protected:
  const FakeHierarchy host_;
  const std::string folder_ = host_.state_folder();
};

TEST_F(StateFolderTest, IsMadeForThisUserOnly) {
  ASSERT_TRUE(MakeStateFolder(folder_).ok());
  struct stat info;
  ASSERT_EQ(stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_TRUE(MakeStateFolder(folder_).ok());
}

TEST_F(StateFolderTest, IsRefusedIfOthersCanWriteToIt) {
  ASSERT_TRUE(MakeStateFolder(folder_).ok());
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_EQ(MakeStateFolder(folder_).code(),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(StateFolderTest, IsRefusedIfItIsNoFolder) {
  ASSERT_EQ(symlink("/", folder_.c_str()), 0);
  EXPECT_THAT(base::Message(MakeStateFolder(folder_)),
              HasSubstr("not a folder that only this user can write to"));
}

TEST_F(StateFolderTest, IsLockedByOneAtATime) {
  ASSERT_TRUE(MakeStateFolder(folder_).ok());
  {
    const auto lock = LockStateFolder(folder_, absl::ZeroDuration());
    ASSERT_TRUE(lock.ok()) << lock.status();
    EXPECT_EQ(LockStateFolder(folder_, absl::ZeroDuration()).status().code(),
              absl::StatusCode::kUnavailable);
  }
  EXPECT_TRUE(LockStateFolder(folder_, absl::ZeroDuration()).ok());
}

class LeasesTest : public testing::Test {
 protected:
  LeasesTest() {
    host_.Write("/state/x", "");
    auto journal = Journal::Create(
        host_.state_folder(),
        {.boot_id = "b", .pid = 77, .start = absl::FromUnixSeconds(0)});
    EXPECT_TRUE(journal.ok()) << journal.status();
    journal_ = *std::move(journal);
    EXPECT_TRUE(journal_->Append(GroupLease("/a")).ok());
    EXPECT_TRUE(journal_->Append(DeviceLease("/", "8:0")).ok());
  }

  absl::Status Check(const JournalRecord& lease,
                     absl::Duration patience = absl::ZeroDuration()) {
    return CheckLeases(host_.state_folder(), {lease}, patience);
  }

  const FakeHierarchy host_;
  std::unique_ptr<Journal> journal_;
};

TEST_F(LeasesTest, NameTheHolder) {
  const absl::Status group = Check(GroupLease("/a"));
  EXPECT_EQ(group.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(base::Message(group),
              HasSubstr("the control group /a is in use by process 77 (since "
                        "1970-01-01 00:00:00 UTC)"));
  EXPECT_THAT(base::Message(Check(DeviceLease("/", "8:0"))),
              HasSubstr("io.cost of 8:0 is in use by process 77"));
}

TEST_F(LeasesTest, AreOfOneThingOnly) {
  EXPECT_TRUE(Check(GroupLease("/a/b")).ok());
  EXPECT_TRUE(Check(DeviceLease("/", "8:16")).ok());
}

TEST_F(LeasesTest, EndWithTheHolder) {
  journal_.reset();
  EXPECT_TRUE(Check(GroupLease("/a")).ok());
}

TEST_F(LeasesTest, AreWaitedFor) {
  std::thread ending([this] { journal_.reset(); });
  EXPECT_TRUE(Check(GroupLease("/a"), absl::Seconds(20)).ok());
  ending.join();
}

}  // namespace
}  // namespace distbench::protection
