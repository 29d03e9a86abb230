#include "distbench/sequencer/runs/result_file.h"

#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "distbench/sequencer/runs/result_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns the records of a file of `size` bytes.
std::vector<std::string> ReadAll(ResultFile& file, int64_t size) {
  std::vector<std::string> records;
  for (int64_t offset = ResultLog::kBegin; offset < size;) {
    absl::StatusOr<std::string> record = file.Read(offset);
    EXPECT_TRUE(record.ok()) << record.status();
    if (!record.ok()) break;
    offset += ResultLog::SizeInFile(*record);
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
  ASSERT_TRUE((*whole)->Read(ResultLog::kBegin).ok());
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
  EXPECT_EQ((*file)->Read(ResultLog::kBegin).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_LT(max_resident_kib() - before, 100 << 10);
}

TEST_F(ResultFileTest, OtherFilesAreRefused) {
  std::ofstream(path_) << "something else";
  EXPECT_EQ(OpenResultFile(path_, 14).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(OpenResultFile(path_ + "x", 14).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace distbench::sequencer
