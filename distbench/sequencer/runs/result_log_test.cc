#include "distbench/sequencer/runs/result_log.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::ElementsAre;

constexpr std::nullopt_t kWhole = std::nullopt;

// Returns the records in memory, beginning at the offset.
std::vector<std::string> ReadAll(const ResultLog& log,
                                 int64_t offset = ResultLog::kBegin) {
  std::vector<std::string> records;
  while (const ResultLog::Record record = log.Read(offset)) {
    records.push_back(*record);
  }
  EXPECT_EQ(offset, log.end());
  return records;
}

TEST(ResultLogTest, KeepsRecordsInOrder) {
  ResultLog log;
  log.Append("one", kWhole);
  log.Append("two", /*piece_of=*/0);
  EXPECT_EQ(log.memory_bytes(), 6);
  EXPECT_EQ(log.total_bytes(), 6);
  EXPECT_EQ(log.end(), ResultLog::kBegin + 2 * 11);
  EXPECT_THAT(ReadAll(log), ElementsAre("one", "two"));
  EXPECT_THAT(log.whole_offsets(), ElementsAre(int64_t{ResultLog::kBegin}));
  int64_t reader = ResultLog::kBegin;
  log.Read(reader);
  EXPECT_THAT(ReadAll(log, reader), ElementsAre("two"));
}

TEST(ResultLogTest, ReadersPassOverWhatWasDropped) {
  ResultLog log;
  log.Append("piece1", /*piece_of=*/0);
  log.Append("whole", kWhole);
  log.DropPieces();
  log.Append("piece2", /*piece_of=*/0);
  EXPECT_THAT(ReadAll(log), ElementsAre("whole", "piece2"));
  EXPECT_EQ(log.memory_bytes(), 11);
}

TEST(ResultLogTest, WhatWasWrittenIsNotInMemory) {
  ResultLog log;
  EXPECT_EQ(log.NextToWrite(), nullptr);
  log.Append("one", /*piece_of=*/0);
  log.Append("two", kWhole);
  EXPECT_EQ(*log.NextToWrite(), "one");
  EXPECT_EQ(*log.NextToWrite(), "one");
  log.OnWritten(log.NextToWrite());
  EXPECT_EQ(log.file_end(), ResultLog::kBegin + 11);
  EXPECT_EQ(log.total_bytes(), ResultLog::kBegin + 11 + 3);
  EXPECT_THAT(ReadAll(log, log.file_end()), ElementsAre("two"));
  EXPECT_EQ(*log.NextToWrite(), "two");
  log.OnWritten(log.NextToWrite());
  EXPECT_EQ(log.file_end(), log.end());
  EXPECT_EQ(log.memory_bytes(), 0);
}

TEST(ResultLogTest, SaysWhichTestsLackPieces) {
  ResultLog log;
  EXPECT_FALSE(log.has_pieces());
  log.Append("piece", /*piece_of=*/3);
  log.Append("whole", kWhole);
  log.Append("piece", /*piece_of=*/4);
  EXPECT_TRUE(log.has_pieces());
  // The file has all of test 3.
  log.OnWritten(log.NextToWrite());
  EXPECT_EQ(log.DropPieces(), 4);
  EXPECT_EQ(log.DropPieces(), std::nullopt);
}

TEST(ResultLogTest, NothingIsWrittenBehindAGap) {
  ResultLog log;
  log.Append("one", /*piece_of=*/0);
  log.Append("two", kWhole);
  log.Append("three", /*piece_of=*/0);
  const ResultLog::Record written = log.NextToWrite();
  log.DropPieces();
  EXPECT_TRUE(log.has_gap());
  EXPECT_THAT(ReadAll(log), ElementsAre("two"));
  // What was being written meanwhile is not in the file, as readers see it.
  log.OnWritten(written);
  EXPECT_EQ(log.file_end(), ResultLog::kBegin);
  EXPECT_EQ(log.memory_bytes(), 3);
  EXPECT_EQ(log.NextToWrite(), nullptr);
}

}  // namespace
}  // namespace distbench::sequencer
