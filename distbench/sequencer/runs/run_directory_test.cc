// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/runs/run_directory.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "distbench/sequencer/runs/run_storage.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Property;

// Returns the records of a file of `size` bytes.
std::vector<std::string> ReadAll(ResultFile& file, int64_t size) {
  std::vector<std::string> records;
  for (int64_t offset = ResultFile::kBegin; offset < size;) {
    absl::StatusOr<std::string> record = file.Read(offset);
    EXPECT_TRUE(record.ok()) << record.status();
    if (!record.ok()) break;
    offset += ResultFile::SizeOf(*record);
    records.push_back(*std::move(record));
  }
  return records;
}

class ResultFileTest : public testing::Test {
 protected:
  ResultFileTest() { std::filesystem::remove(path_); }

  const std::string path_ =
      testing::TempDir() + "/" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ResultFileTest, RecordsComeBackFromTheFile) {
  const std::vector<std::string> records = {"one", "", std::string(100'000, 0)};
  const auto file = NewResultFile(path_);
  EXPECT_FALSE(std::filesystem::exists(path_));
  for (const std::string& record : records) {
    EXPECT_TRUE(file->Append(record).ok());
  }
  ASSERT_TRUE(file->Sync().ok());
  const int64_t size = std::filesystem::file_size(path_);
  EXPECT_EQ(ReadAll(*file, size), records);
  const auto opened = OpenResultFile(path_, size);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(ReadAll(**opened, size), records);
}

TEST_F(ResultFileTest, WhatIsBehindTheGivenSizeDoesNotCount) {
  const auto file = NewResultFile(path_);
  ASSERT_TRUE(file->Append("one").ok());
  const int64_t size = std::filesystem::file_size(path_);
  ASSERT_TRUE(file->Append("two").ok());
  const auto opened = OpenResultFile(path_, size);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_THAT(ReadAll(**opened, size), ElementsAre("one"));
  EXPECT_EQ((*opened)->Read(size).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(ResultFileTest, AFileThatTakesNothingIsSaidAndMayDoSoLater) {
  const auto file = NewResultFile(path_ + "/file");
  EXPECT_TRUE(file->Sync().ok());
  EXPECT_THAT(std::string(file->Append("one").message()),
              HasSubstr("cannot write " + path_ + "/file"));
  std::filesystem::create_directory(path_);
  EXPECT_TRUE(file->Append("one").ok());
  std::filesystem::remove_all(path_);
}

TEST_F(ResultFileTest, DamageIsFoundAndItsPlaceSaid) {
  int64_t size = 0;
  {
    const auto file = NewResultFile(path_);
    ASSERT_TRUE(file->Append("one").ok());
    ASSERT_TRUE(file->Append("two").ok());
    size = std::filesystem::file_size(path_);
  }
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(size - 1);
  file.put('x');
  file.close();
  const auto whole = OpenResultFile(path_, size);
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_TRUE((*whole)->Read(ResultFile::kBegin).ok());
  constexpr int64_t offset = 19;
  const absl::Status damage = (*whole)->Read(offset).status();
  EXPECT_EQ(damage.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(damage.message()), HasSubstr("damaged at byte 19"));
  // A length beyond the end of the file is an error, too.
  const auto cut = OpenResultFile(path_, size - 1);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ((*cut)->Read(offset).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(ResultFileTest, BytesThatAreNotThereTakeNoMemory) {
  const auto max_resident_kib = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  std::ofstream(path_) << "dbrun 1\n" << std::string(4, '\xff') << "crc-";
  const auto file = OpenResultFile(path_, int64_t{1} << 40);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto before = max_resident_kib();
  EXPECT_EQ((*file)->Read(ResultFile::kBegin).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_LT(max_resident_kib() - before, 100 << 10);
}

TEST_F(ResultFileTest, APlantedLinkIsReplacedAndNotFollowed) {
  const std::string other = path_ + ".other";
  std::ofstream(other) << "somebody's";
  std::filesystem::create_symlink(other, path_);
  ASSERT_TRUE(NewResultFile(path_)->Append("one").ok());
  EXPECT_FALSE(std::filesystem::is_symlink(path_));
  EXPECT_EQ(std::filesystem::file_size(other), 10);
}

class TemporaryResultFileTest : public ResultFileTest {
 protected:
  TemporaryResultFileTest() {
    std::filesystem::remove_all(path_);
    setenv("TMPDIR", path_.c_str(), 1);
  }
  ~TemporaryResultFileTest() override { unsetenv("TMPDIR"); }
};

TEST_F(TemporaryResultFileTest, HasNoName) {
  std::filesystem::create_directory(path_);
  const auto file = NewTemporaryResultFile();
  ASSERT_TRUE(file->Append("one").ok());
  ASSERT_TRUE(file->Append("two").ok());
  EXPECT_TRUE(std::filesystem::is_empty(path_));
  EXPECT_THAT(ReadAll(*file, ResultFile::kBegin + 2 * 11),
              ElementsAre("one", "two"));
}

TEST_F(TemporaryResultFileTest, AMissingFolderIsNamed) {
  EXPECT_THAT(std::string(NewTemporaryResultFile()->Append("one").message()),
              HasSubstr("cannot write " + path_ + ": No such file"));
  EXPECT_THAT(std::string(CheckTemporaryFolder().message()),
              AllOf(HasSubstr("cannot make files in " + path_),
                    HasSubstr("No such file"), HasSubstr("--results_dir")));
}

TEST_F(TemporaryResultFileTest, CheckingTheFolderLeavesNothing) {
  std::filesystem::create_directory(path_);
  EXPECT_TRUE(CheckTemporaryFolder().ok());
  EXPECT_TRUE(std::filesystem::is_empty(path_));
}

TEST_F(ResultFileTest, OtherFilesAreRefused) {
  std::ofstream(path_) << "something else";
  EXPECT_EQ(OpenResultFile(path_, 14).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(OpenResultFile(path_ + "x", 14).status().code(),
            absl::StatusCode::kNotFound);
}

// A pipe without a writer, which nobody must wait for.
TEST_F(ResultFileTest, APipeIsRefused) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const absl::Status status = OpenResultFile(path_, 14).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(path_), HasSubstr("remove it")));
}

constexpr char kId[] = "20260131-235959-000";
constexpr char kLaterId[] = "20260201-000000-000";

RunDescription RunCalled(const std::string& id) {
  RunDescription run;
  run.set_id(id);
  run.set_state(RunDescription::DONE);
  run.set_label("a \"quoted\" label");
  return run;
}

class RunDirectoryTest : public testing::Test {
 protected:
  RunDirectoryTest() { std::filesystem::remove_all(path_); }

  std::unique_ptr<RunDirectory> Open() {
    auto directory = RunDirectory::Open(path_);
    EXPECT_TRUE(directory.ok()) << directory.status();
    return *std::move(directory);
  }

  const std::string path_ =
      testing::TempDir() + "/" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(RunDirectoryTest, KeepsDescriptionsBeyondItsLife) {
  {
    const auto directory = Open();
    EXPECT_THAT(*directory->List(), IsEmpty());
    RunDescription run = RunCalled(kLaterId);
    ASSERT_TRUE(directory->Save(run).ok());
    run.set_state(RunDescription::CANCELLED);
    ASSERT_TRUE(directory->Save(run).ok());
    ASSERT_TRUE(directory->Save(RunCalled(kId)).ok());
  }
  const auto directory = Open();
  EXPECT_THAT(
      *directory->List(),
      ElementsAre(
          Property(&RunDescription::id, kId),
          AllOf(Property(&RunDescription::id, kLaterId),
                Property(&RunDescription::label, "a \"quoted\" label"),
                Property(&RunDescription::state, RunDescription::CANCELLED))));
  EXPECT_EQ(directory->Load(kId)->id(), kId);
}

TEST_F(RunDirectoryTest, OneProcessAtATimeHasIt) {
  const auto directory = Open();
  const absl::Status status = RunDirectory::Open(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("another test sequencer"), HasSubstr(path_)));
}

TEST_F(RunDirectoryTest, SaysWhyItCanNotBeOpened) {
  const absl::Status missing = RunDirectory::Open(path_ + "/a/b").status();
  EXPECT_THAT(std::string(missing.message()),
              AllOf(HasSubstr(path_ + "/a/b"), HasSubstr("No such file")));
  std::ofstream(path_) << "a file";
  EXPECT_THAT(std::string(RunDirectory::Open(path_).status().message()),
              HasSubstr("Not a directory"));
}

// While it exists, the rights of files apply to root, too.
class WithoutRootsRights {
 public:
  WithoutRootsRights() {
    EXPECT_EQ(syscall(SYS_capget, &header_, data_), 0);
    __user_cap_data_struct less[2] = {data_[0], data_[1]};
    less[0].effective &= ~(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH);
    EXPECT_EQ(syscall(SYS_capset, &header_, less), 0);
  }
  ~WithoutRootsRights() { syscall(SYS_capset, &header_, data_); }

 private:
  __user_cap_header_struct header_ = {.version = _LINUX_CAPABILITY_VERSION_3,
                                      .pid = 0};
  __user_cap_data_struct data_[2];
};

TEST_F(RunDirectoryTest, MustBeListed) {
  const WithoutRootsRights rights;
  const auto directory = Open();
  using std::filesystem::perms;
  std::filesystem::permissions(path_, perms::owner_write | perms::owner_exec);
  EXPECT_THAT(std::string(directory->List().status().message()),
              AllOf(HasSubstr("cannot list the runs in " + path_),
                    HasSubstr("Permission denied"),
                    HasSubstr("needs a directory that it may read")));
  std::filesystem::permissions(path_, perms::owner_all);
}

TEST_F(RunDirectoryTest, IsNotOpenedIfItCanNotBeListed) {
  const WithoutRootsRights rights;
  Open();
  using std::filesystem::perms;
  std::filesystem::permissions(path_, perms::owner_write | perms::owner_exec);
  EXPECT_THAT(std::string(RunDirectory::Open(path_).status().message()),
              AllOf(HasSubstr("cannot list the runs in " + path_),
                    HasSubstr("Permission denied")));
  std::filesystem::permissions(path_, perms::owner_all);
}

TEST_F(RunDirectoryTest, WhatIsNoIdIsNoName) {
  const auto directory = Open();
  std::ofstream(path_ + "/other.run") << "state: DONE";
  for (const std::string id : {"other", "../other", "", kLaterId}) {
    EXPECT_EQ(directory->Load(id).status().code(), absl::StatusCode::kNotFound);
  }
  EXPECT_THAT(*directory->List(), IsEmpty());
}

TEST_F(RunDirectoryTest, RunsWhoseFilesAreRemovedAreGone) {
  const auto directory = Open();
  ASSERT_TRUE(directory->Save(RunCalled(kId)).ok());
  std::filesystem::remove(path_ + "/" + kId + ".run");
  EXPECT_THAT(*directory->List(), IsEmpty());
}

TEST_F(RunDirectoryTest, ReadsOnlyDescriptionsThatHaveChanged) {
  const auto directory = Open();
  ASSERT_TRUE(directory->Save(RunCalled(kId)).ok());
  const auto label = [&] { return directory->List()->at(0).label(); };
  EXPECT_EQ(label(), "a \"quoted\" label");
  // Written in place, with the same size and time.
  const std::string file = path_ + "/" + kId + ".run";
  const auto time = std::filesystem::last_write_time(file);
  std::string text;
  {
    std::ifstream in(file);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  text.replace(text.find("quoted"), 6, "QUOTED");
  std::ofstream(file) << text;
  std::filesystem::last_write_time(file, time);
  EXPECT_EQ(label(), "a \"quoted\" label");
  std::filesystem::last_write_time(file, time + std::chrono::seconds(1));
  EXPECT_EQ(label(), "a \"QUOTED\" label");
  // What it saves itself it reads anew, whatever the file looks like.
  ASSERT_TRUE(directory->Save(RunCalled(kId)).ok());
  EXPECT_EQ(label(), "a \"quoted\" label");
}

TEST_F(RunDirectoryTest, KeepsOnlySoManyDescriptionsInMemory) {
  auto directory = RunDirectory::Open(path_, /*kept_bytes=*/0);
  ASSERT_TRUE(directory.ok()) << directory.status();
  ASSERT_TRUE((*directory)->Save(RunCalled(kId)).ok());
  ASSERT_EQ((*directory)->List()->size(), 1);
  // A change that what is kept would hide: the file has the same version.
  const std::string file = path_ + "/" + kId + ".run";
  const auto time = std::filesystem::last_write_time(file);
  const auto size = std::filesystem::file_size(file);
  {
    std::fstream out(file, std::ios::in | std::ios::out);
    out << "label: 'new'" << std::string(size - 12, ' ');
  }
  std::filesystem::last_write_time(file, time);
  EXPECT_THAT(*(*directory)->List(),
              ElementsAre(Property(&RunDescription::label, "new")));
}

TEST_F(RunDirectoryTest, AnErrorIsNotRemembered) {
  const WithoutRootsRights rights;
  const auto directory = Open();
  ASSERT_TRUE(directory->Save(RunCalled(kId)).ok());
  const std::string file = path_ + "/" + kId + ".run";
  std::filesystem::permissions(file, std::filesystem::perms::none);
  EXPECT_THAT(
      *directory->List(),
      ElementsAre(AllOf(
          Property(&RunDescription::state, RunDescription::UNKNOWN),
          Property(&RunDescription::message, HasSubstr("Permission denied")))));
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  EXPECT_THAT(*directory->List(), ElementsAre(Property(&RunDescription::state,
                                                       RunDescription::DONE)));
}

TEST_F(RunDirectoryTest, ADescriptionThatCanNotBeReadIsListedNevertheless) {
  const auto directory = Open();
  std::ofstream(path_ + "/" + kId + ".run") << "state: \xff";
  EXPECT_THAT(
      *directory->List(),
      ElementsAre(
          AllOf(Property(&RunDescription::id, kId),
                Property(&RunDescription::state, RunDescription::UNKNOWN),
                Property(&RunDescription::message, HasSubstr("description")))));
}

// Such as a pipe without a writer, which nobody must wait for.
TEST_F(RunDirectoryTest, ADescriptionThatIsNoFileDoesNoHarm) {
  const auto directory = Open();
  const std::string pipe = path_ + "/" + kId + ".run";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_directory(path_ + "/" + kLaterId + ".run");
  const auto is_unreadable = [](const std::string& id) {
    return AllOf(Property(&RunDescription::id, id),
                 Property(&RunDescription::state, RunDescription::UNKNOWN),
                 Property(&RunDescription::message, HasSubstr("not a file")));
  };
  EXPECT_THAT(*directory->List(),
              ElementsAre(is_unreadable(kId), is_unreadable(kLaterId)));
  EXPECT_THAT(std::string(directory->Load(kId).status().message()),
              HasSubstr(pipe));
}

TEST_F(RunDirectoryTest, ADescriptionThatIsNestedDeeplyDoesNoHarm) {
  const auto directory = Open();
  {
    std::ofstream file(path_ + "/" + kId + ".run");
    for (int i = 0; i < 1'000'000; ++i) file << "a{";
  }
  EXPECT_THAT(*directory->List(), ElementsAre(Property(&RunDescription::message,
                                                       HasSubstr("too deep"))));
}

TEST_F(RunDirectoryTest, RemovesWhatAKilledProcessBeganToWrite) {
  std::filesystem::create_directory(path_);
  const std::string begun = path_ + "/" + kId + ".run.4711.tmp";
  const std::string other = path_ + "/other.tmp";
  std::ofstream(begun) << "sta";
  std::ofstream(other) << "not ours";
  Open();
  EXPECT_FALSE(std::filesystem::exists(begun));
  EXPECT_TRUE(std::filesystem::exists(other));
}

}  // namespace
}  // namespace distbench::sequencer
