// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/output_file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/base/testing/test_folder.h"
#include "distbench/base/testing/without_privileges.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::results {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Each test has its own directory.
class OutputFileTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const {
    return folder_.PathOf(name);
  }

  int FileCount() const {
    return std::distance(fs::directory_iterator(folder_.path()),
                         fs::directory_iterator());
  }

  static void WriteOld(const std::string& path) {
    std::ofstream(path) << "old";
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  static std::unique_ptr<OutputFile> Open(const std::string& path) {
    auto file = OutputFile::Open(path);
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }

  static void Print(absl::string_view text, OutputFile& file) {
    EXPECT_EQ(write(file.fd(), text.data(), text.size()), text.size());
  }

  const base::TestFolder folder_;
};

TEST_F(OutputFileTest, AppearsAtCommit) {
  const std::string path = Path("result");
  auto file = Open(path);
  Print("new", *file);
  EXPECT_FALSE(fs::exists(path));
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(*base::ReadFile(path), "new");
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(OutputFileTest, PiecesFollowEachOther) {
  const std::string path = Path("result");
  auto file = Open(path);
  file->Write("a");
  file->Write("bc");
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(*base::ReadFile(path), "abc");
}

TEST_F(OutputFileTest, CommitReturnsTheErrorOfAPiece) {
  auto file = Open("/dev/full");
  file->Write("a");
  file->Write("bc");
  const absl::Status status = file->Commit();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/dev/full"));
}

TEST_F(OutputFileTest, AWholeFileIsWrittenAtOnce) {
  const std::string path = Path("result");
  WriteOld(path);
  ASSERT_TRUE(WriteFile(path, "new").ok());
  EXPECT_EQ(*base::ReadFile(path), "new");
  EXPECT_EQ(FileCount(), 1);
  EXPECT_THAT(std::string(WriteFile(Path("no/folder"), "new").message()),
              HasSubstr("no/folder"));
}

// The paths that were synced, in order.
std::vector<std::string>& Synced() {
  static std::vector<std::string> synced;
  return synced;
}

std::string PathOf(int fd) {
  return fs::read_symlink("/proc/self/fd/" + std::to_string(fd));
}

int NoteSync(int fd) {
  Synced().push_back(PathOf(fd));
  return 0;
}

int FailAtDirectory(int fd) {
  errno = EIO;
  return fs::is_directory(PathOf(fd)) ? -1 : 0;
}

int RefuseDirectory(int fd) {
  errno = EINVAL;
  return fs::is_directory(PathOf(fd)) ? -1 : 0;
}

int Fail(int) {
  errno = EIO;
  return -1;
}

TEST_F(OutputFileTest, IsSyncedBeforeItsNameAndThenItsDirectory) {
  Synced().clear();
  auto file = OutputFile::Open(Path("result"), &NoteSync);
  ASSERT_TRUE(file.ok());
  const std::string temporary = PathOf((*file)->fd());
  ASSERT_TRUE((*file)->Commit().ok());
  EXPECT_THAT(Synced(), ElementsAre(temporary, folder_.path().string()));
}

TEST_F(OutputFileTest, TheDirectoryOfABareNameIsTheCurrentOne) {
  Synced().clear();
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  auto file = OutputFile::Open("result", &NoteSync);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->Commit().ok());
  fs::current_path(before);
  ASSERT_THAT(Synced(), SizeIs(2));
  EXPECT_EQ(Synced()[1], folder_.path().string());
}

TEST_F(OutputFileTest, AnErrorOfItsDirectoryIsReported) {
  auto file = OutputFile::Open(Path("result"), &FailAtDirectory);
  ASSERT_TRUE(file.ok());
  Print("new", **file);
  const absl::Status status = (*file)->Commit();
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(Path("result")), HasSubstr("directory"),
                    HasSubstr("Input/output error")));
  EXPECT_EQ(*base::ReadFile(Path("result")), "new");
}

TEST_F(OutputFileTest, ADirectoryThatCannotBeSyncedIsNoError) {
  auto file = OutputFile::Open(Path("result"), &RefuseDirectory);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->Commit(), absl::OkStatus());
}

TEST_F(OutputFileTest, WhatIsNotOnTheDiskGetsNoName) {
  auto file = OutputFile::Open(Path("result"), &Fail);
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE((*file)->Commit().ok());
  EXPECT_FALSE(fs::exists(Path("result")));
}

TEST_F(OutputFileTest, ReplacesAtCommitAndKeepsTheMode) {
  const std::string path = Path("result");
  WriteOld(path);
  fs::permissions(path, fs::perms(0640));
  auto file = Open(path);
  Print("new", *file);
  EXPECT_EQ(*base::ReadFile(path), "old");
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(*base::ReadFile(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
}

TEST_F(OutputFileTest, LeavesNothingBehindWithoutCommit) {
  const std::string path = Path("result");
  WriteOld(path);
  Print("half", *Open(path));
  EXPECT_EQ(*base::ReadFile(path), "old");
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(OutputFileTest, FollowsSymbolicLinks) {
  WriteOld(Path("target"));
  fs::create_symlink("target", Path("link"));
  auto file = Open(Path("link"));
  Print("new", *file);
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(*base::ReadFile(Path("target")), "new");
}

TEST_F(OutputFileTest, MissingDirectoryIsNamed) {
  const auto file = OutputFile::Open(Path("missing/result"));
  EXPECT_EQ(file.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr("missing/result: No such file or directory"));
}

TEST_F(OutputFileTest, DirectoryIsNoFile) {
  const auto file = OutputFile::Open(folder_.path());
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr("Is a directory"));
}

TEST_F(OutputFileTest, ReadOnlyFileIsNotReplaced) {
  const std::string path = Path("result");
  WriteOld(path);
  fs::permissions(path, fs::perms(0444));
  base::WithoutPrivileges([&path] {
    EXPECT_EQ(OutputFile::Open(path).status().code(),
              absl::StatusCode::kPermissionDenied);
  });
}

TEST_F(OutputFileTest, DevicesAreWrittenToAsTheyStand) {
  auto file = Open("/dev/null");
  Print("new", *file);
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// Earlier output is kept, and later output follows it.
TEST_F(OutputFileTest, StandardOutputGoesOnWhereItIs) {
  const std::string path = Path("redirected");
  const int saved = dup(STDOUT_FILENO);
  ASSERT_NE(freopen(path.c_str(), "w", stdout), nullptr);
  EXPECT_EQ(write(STDOUT_FILENO, "before ", 7), 7);
  auto file = OutputFile::Open("/dev/stdout");
  if (file.ok()) {
    EXPECT_EQ(write((*file)->fd(), "result ", 7), 7);
    EXPECT_TRUE((*file)->Commit().ok());
  }
  EXPECT_EQ(write(STDOUT_FILENO, "after", 5), 5);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*base::ReadFile(path), "before result after");
}

TEST_F(OutputFileTest, RemovesWhatAKilledProcessLeft) {
  const pid_t child = fork();
  if (child == 0) {
    const auto left = OutputFile::Open(Path("out"));
    _exit(left.ok() ? 0 : 1);  // without destructors, as if killed
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  ASSERT_EQ(FileCount(), 1);
  for (const char* name :
       {"out.1.txt", "out.x.tmp", "out..tmp", "other.1.tmp"}) {
    WriteOld(Path(name));
  }
  const auto file = Open(Path("out"));
  EXPECT_THAT(Names(), ElementsAre("other.1.tmp", "out..tmp", "out.1.txt",
                                   "out." + std::to_string(getpid()) + ".tmp",
                                   "out.x.tmp"));
}

TEST_F(OutputFileTest, LeavesWhatAnotherProcessWrites) {
  const auto first = Open(Path("out"));
  const pid_t child = fork();
  if (child == 0) {
    const auto second = OutputFile::Open(Path("out"));
    _exit(second.ok() && (*second)->Commit().ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(first->Commit(), absl::OkStatus());
  EXPECT_THAT(Names(), ElementsAre("out"));
}

TEST_F(OutputFileTest, APlantedLinkIsNotFollowed) {
  const std::string path = Path("out.txt");
  const std::string other = Path("other");
  WriteOld(other);
  fs::create_symlink(other, path + "." + std::to_string(getpid()) + ".tmp");
  auto file = OutputFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(base::WriteAll((*file)->fd(), "new text"));
  ASSERT_TRUE((*file)->Commit().ok());
  EXPECT_EQ(fs::file_size(other), 3);
  EXPECT_EQ(fs::file_size(path), 8);
}

TEST_F(OutputFileTest, TwoWritersOfOneFileDoNotMixTheirTexts) {
  const std::string path = Path("out.txt");
  auto one = OutputFile::Open(path);
  auto other = OutputFile::Open(path);
  ASSERT_TRUE(one.ok() && other.ok());
  ASSERT_TRUE(base::WriteAll((*one)->fd(), "a long text"));
  ASSERT_TRUE(base::WriteAll((*other)->fd(), "short"));
  ASSERT_TRUE((*one)->Commit().ok());
  EXPECT_EQ(fs::file_size(path), 11);
  ASSERT_TRUE((*other)->Commit().ok());
  EXPECT_THAT(Names(), ElementsAre("out.txt"));
  EXPECT_EQ(fs::file_size(path), 5);
}

}  // namespace
}  // namespace distbench::results
