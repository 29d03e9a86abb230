// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/data_file.h"

#include <filesystem>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

DataFileOptions InTempDir(int64_t pages) {
  return {.directory = testing::TempDir(), .pages = pages, .seed = 7};
}

std::vector<FilePage> Expected(int64_t first, int64_t count) {
  std::vector<FilePage> pages(count);
  FillPages(7, first, absl::MakeSpan(pages));
  return pages;
}

TEST(DataFileTest, HasItsContentFromTheStart) {
  // More than what is written at a time.
  const auto file = DataFile::Create(InTempDir(2100));
  ASSERT_TRUE(file.ok()) << file.status();
  for (const int64_t first : {0, 1, 2047, 2098}) {
    std::vector<FilePage> pages(2);
    ASSERT_TRUE(file->Read(first, absl::MakeSpan(pages)));
    EXPECT_EQ(ChecksumOf(pages), ChecksumOf(Expected(first, 2))) << first;
    EXPECT_EQ(pages[1].words, Expected(first, 2)[1].words) << first;
  }
}

TEST(DataFileTest, PagesDiffer) {
  const std::vector<FilePage> pages = Expected(0, 2);
  EXPECT_NE(pages[0].words, pages[1].words);
  EXPECT_NE(pages[0].words[0], pages[0].words[1]);
}

TEST(DataFileTest, ReturnsWhatWasWritten) {
  const auto file = DataFile::Create(InTempDir(4));
  ASSERT_TRUE(file.ok()) << file.status();
  const std::vector<FilePage> written = Expected(100, 1);
  ASSERT_TRUE(file->Write(2, written));
  ASSERT_TRUE(file->Sync());
  std::vector<FilePage> read(1);
  ASSERT_TRUE(file->Read(2, absl::MakeSpan(read)));
  EXPECT_EQ(read[0].words, written[0].words);
}

TEST(DataFileTest, ReadingBeyondTheEndFails) {
  const auto file = DataFile::Create(InTempDir(4));
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<FilePage> pages(2);
  EXPECT_FALSE(file->Read(3, absl::MakeSpan(pages)));
}

// Whatever ends the process: there is no name from the start.
TEST(DataFileTest, LeavesNothingInItsDirectory) {
  const std::string directory = testing::TempDir() + "/data_file_test";
  std::filesystem::create_directory(directory);
  DataFileOptions options = InTempDir(4);
  options.directory = directory;
  const auto file = DataFile::Create(options);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

TEST(DataFileTest, SaysWhichDirectoryIsMissing) {
  DataFileOptions options = InTempDir(4);
  options.directory = testing::TempDir() + "/there/is/none";
  EXPECT_THAT(DataFile::Create(options).status().message(),
              AllOf(HasSubstr("/there/is/none\": cannot create a file there"),
                    HasSubstr("create the directory on every node")));
}

TEST(DataFileTest, SaysThatThereIsNoSpace) {
  DataFileOptions options =
      InTempDir(std::numeric_limits<int64_t>::max() / config::kFilePageBytes);
  const absl::Status status = DataFile::Create(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("has no space"), HasSubstr("make the data "
                                                         "smaller")));
}

TEST(DataFileTest, DirectReadsHaveTheSameContent) {
  DataFileOptions options = InTempDir(4);
  options.is_direct = true;
  const auto file = DataFile::Create(options);
  if (!file.ok()) {
    EXPECT_THAT(file.status().message(),
                AllOf(HasSubstr("its file system has no direct I/O"),
                      HasSubstr("set io to \"cached\"")));
    GTEST_SKIP() << file.status();
  }
  std::vector<FilePage> pages(2);
  ASSERT_TRUE(file->Read(1, absl::MakeSpan(pages)));
  EXPECT_EQ(ChecksumOf(pages), ChecksumOf(Expected(1, 2)));
}

TEST(DataFileTest, UsersOfTheSameNameShareAFile) {
  const SharedDataFile one = ShareDataFile("one", InTempDir(1));
  ASSERT_TRUE(one->ok()) << one->status();
  EXPECT_EQ(ShareDataFile("one", InTempDir(1)), one);
  EXPECT_NE(ShareDataFile("two", InTempDir(1)), one);
  EXPECT_NE(ShareDataFile("one", InTempDir(2)), one);
}

}  // namespace
}  // namespace distbench::activity
