#include "distbench/sequencer/runs/result_log.h"

#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What the log still has, from the offset.
std::vector<std::string> ReadAll(const ResultLog& log,
                                 int64_t offset = ResultLog::kBegin) {
  std::vector<std::string> records;
  while (true) {
    absl::StatusOr<std::optional<std::string>> record = log.Read(offset);
    EXPECT_TRUE(record.ok()) << record.status();
    if (!record.ok() || !record->has_value()) break;
    records.push_back(**std::move(record));
  }
  EXPECT_EQ(offset, log.end());
  return records;
}

class ResultLogTest : public testing::Test {
 protected:
  ResultLogTest() { std::filesystem::remove(path_); }

  const std::string path_ =
      testing::TempDir() + "/" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ResultLogTest, RecordsComeBackFromTheFile) {
  const std::vector<std::string> records = {"one", "", std::string(100'000, 0)};
  ResultLog log(path_);
  EXPECT_THAT(ReadAll(log), IsEmpty());
  for (const std::string& record : records) {
    EXPECT_TRUE(log.AppendToFile(record));
  }
  EXPECT_EQ(ReadAll(log), records);
  ASSERT_TRUE(log.Flush().ok());
  EXPECT_EQ(log.end(), log.file_bytes());

  const auto opened = ResultLog::Open(path_, log.file_bytes());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(ReadAll(**opened), records);
}

TEST_F(ResultLogTest, WhatIsBehindTheGivenSizeDoesNotCount) {
  ResultLog log(path_);
  log.AppendToFile("one");
  const int64_t size = log.file_bytes();
  log.AppendToFile("two");
  const auto opened = ResultLog::Open(path_, size);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_THAT(ReadAll(**opened), ElementsAre("one"));
}

TEST_F(ResultLogTest, WithoutAFileAllIsInMemory) {
  ResultLog log("");
  EXPECT_FALSE(log.AppendToFile("one"));
  log.AppendToMemory("one", false);
  log.AppendToMemory("two", true);
  EXPECT_EQ(log.memory_bytes(), 6);
  EXPECT_EQ(log.file_bytes(), 0);
  EXPECT_TRUE(log.Flush().ok());
  EXPECT_THAT(ReadAll(log), ElementsAre("one", "two"));
}

TEST_F(ResultLogTest, ReadersPassOverWhatWasDropped) {
  ResultLog log("");
  log.AppendToMemory("piece1", true);
  log.AppendToMemory("whole", false);
  const int64_t offset = log.end();
  log.AppendToMemory("piece2", true);
  log.DropPieces(offset);
  EXPECT_THAT(ReadAll(log), ElementsAre("whole", "piece2"));
  EXPECT_EQ(log.memory_bytes(), 11);
  log.DropMemory();
  EXPECT_THAT(ReadAll(log), IsEmpty());
  EXPECT_EQ(log.memory_bytes(), 0);
}

TEST_F(ResultLogTest, AFileThatTakesNothingIsSaid) {
  ResultLog log(path_ + "/missing/file");
  EXPECT_FALSE(log.AppendToFile("one"));
  log.AppendToMemory("one", false);
  EXPECT_THAT(std::string(log.Flush().message()), HasSubstr("missing/file"));
  EXPECT_THAT(ReadAll(log), ElementsAre("one"));
}

TEST_F(ResultLogTest, AFileThatHasRoomAgainGetsWhatIsInMemory) {
  std::filesystem::create_directory(path_);
  ResultLog log(path_ + "/file");
  std::filesystem::remove(path_);
  EXPECT_FALSE(log.AppendToFile("one"));
  log.AppendToMemory("one", true);
  EXPECT_FALSE(log.AppendToFile("two"));
  log.AppendToMemory("two", false);
  int64_t reader = ResultLog::kBegin;
  ASSERT_TRUE(log.Read(reader).ok());
  EXPECT_FALSE(log.Flush().ok());

  std::filesystem::create_directory(path_);
  ASSERT_TRUE(log.Flush().ok());
  EXPECT_EQ(log.memory_bytes(), 0);
  EXPECT_TRUE(log.AppendToFile("three"));
  EXPECT_THAT(ReadAll(log), ElementsAre("one", "two", "three"));
  EXPECT_THAT(ReadAll(log, reader), ElementsAre("two", "three"));
  std::filesystem::remove_all(path_);
}

TEST_F(ResultLogTest, DamageIsFoundAndItsPlaceSaid) {
  int64_t size = 0;
  {
    ResultLog log(path_);
    log.AppendToFile("one");
    log.AppendToFile("two");
    size = log.file_bytes();
  }
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(size - 1);
  file.put('x');
  file.close();
  const auto log = ResultLog::Open(path_, size);
  ASSERT_TRUE(log.ok()) << log.status();
  int64_t offset = ResultLog::kBegin;
  ASSERT_TRUE((*log)->Read(offset).ok());
  const absl::Status damage = (*log)->Read(offset).status();
  EXPECT_EQ(damage.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(damage.message()), HasSubstr("damaged at byte 19"));
  // Nor does a length send a reader anywhere.
  const auto cut = ResultLog::Open(path_, size - 1);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ((*cut)->Read(offset).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(ResultLogTest, BytesThatAreNotThereTakeNoMemory) {
  const auto max_resident_kib = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  std::ofstream(path_) << "dbrun 1\n" << std::string(4, '\xff') << "crc-";
  const auto log = ResultLog::Open(path_, int64_t{1} << 40);
  ASSERT_TRUE(log.ok()) << log.status();
  const auto before = max_resident_kib();
  int64_t offset = ResultLog::kBegin;
  EXPECT_EQ((*log)->Read(offset).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_LT(max_resident_kib() - before, 100 << 10);
}

TEST_F(ResultLogTest, OtherFilesAreRefused) {
  std::ofstream(path_) << "something else";
  EXPECT_EQ(ResultLog::Open(path_, 14).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(ResultLog::Open(path_ + "x", 14).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace distbench
