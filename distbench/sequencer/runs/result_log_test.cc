#include "distbench/sequencer/runs/result_log.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
  log.Append("one", false);
  log.Append("two", true);
  EXPECT_EQ(log.memory_bytes(), 6);
  EXPECT_EQ(log.end(), ResultLog::kBegin + 2 * 11);
  EXPECT_THAT(ReadAll(log), ElementsAre("one", "two"));
  int64_t reader = ResultLog::kBegin;
  log.Read(reader);
  EXPECT_THAT(ReadAll(log, reader), ElementsAre("two"));
}

TEST(ResultLogTest, ReadersPassOverWhatWasDropped) {
  ResultLog log;
  log.Append("piece1", true);
  log.Append("whole", false);
  const int64_t offset = log.end();
  log.Append("piece2", true);
  log.DropPieces(offset);
  EXPECT_THAT(ReadAll(log), ElementsAre("whole", "piece2"));
  EXPECT_EQ(log.memory_bytes(), 11);
  log.Drop(offset);
  EXPECT_THAT(ReadAll(log), ElementsAre("piece2"));
  log.Drop(log.end());
  EXPECT_THAT(ReadAll(log), IsEmpty());
  EXPECT_EQ(log.memory_bytes(), 0);
}

TEST(ResultLogTest, WhatWasWrittenIsNotInMemory) {
  ResultLog log;
  EXPECT_EQ(log.BeginWrite(), nullptr);
  log.Append("one", true);
  log.Append("two", false);
  EXPECT_EQ(*log.BeginWrite(), "one");
  log.EndWrite(false);
  EXPECT_EQ(*log.BeginWrite(), "one");
  log.EndWrite(true);
  EXPECT_EQ(log.file_end(), ResultLog::kBegin + 11);
  EXPECT_THAT(ReadAll(log, log.file_end()), ElementsAre("two"));
  EXPECT_EQ(*log.BeginWrite(), "two");
  log.EndWrite(true);
  EXPECT_EQ(log.file_end(), log.end());
}

TEST(ResultLogTest, NothingIsWrittenBehindAGap) {
  ResultLog log;
  log.Append("one", true);
  log.Append("two", true);
  log.Append("three", false);
  EXPECT_EQ(*log.BeginWrite(), "one");
  // The record that is being written is kept.
  log.DropPieces(log.end());
  EXPECT_THAT(ReadAll(log), ElementsAre("one", "three"));
  log.EndWrite(true);
  EXPECT_TRUE(log.has_gap());
  EXPECT_EQ(log.BeginWrite(), nullptr);
}

}  // namespace
}  // namespace distbench::sequencer
