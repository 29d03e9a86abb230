// What a run has to say, in records, on disk or in memory.

#ifndef DISTBENCH_SEQUENCER_RUNS_RESULT_LOG_H_
#define DISTBENCH_SEQUENCER_RUNS_RESULT_LOG_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace distbench {

// Records, appended at the end and read from anywhere. The first ones are in a
// file, if there is one; those that the file had no room for are in memory
// behind them.
//
// A record has an offset: where it is in the file, or would be. The file begins
// with a line that says what it is; a record has its length and its CRC-32,
// both 4 bytes, the lowest first, before its bytes. A file that ends in the
// middle of a record is whole up to there.
//
// Thread-compatible.
class ResultLog {
 public:
  // Of the first record.
  static constexpr int64_t kBegin = 8;

  // `path`: of the file, which the first record makes; empty: all in memory.
  explicit ResultLog(std::string path) : path_(std::move(path)) {}

  // The first `size` bytes of a file, to read. The error names it.
  static absl::StatusOr<std::unique_ptr<ResultLog>> Open(std::string path,
                                                         int64_t size);
  ~ResultLog();

  ResultLog(const ResultLog&) = delete;
  ResultLog& operator=(const ResultLog&) = delete;

  // False: there is no file, or it can not take the record, or records wait in
  // memory that come before it.
  bool AppendToFile(const std::string& record);

  // A record that may be dropped if need be is a piece.
  void AppendToMemory(std::string record, bool is_piece);

  // The next record at or after the offset, which is moved behind it; nothing
  // at the end. What was dropped is passed over. DATA_LOSS if the file is
  // damaged.
  absl::StatusOr<std::optional<std::string>> Read(int64_t& offset) const;

  // Writes to the file what is in memory, if nothing was dropped of it, and
  // makes sure that all of the file is on the disk. The error says why it is
  // not. OK without a file.
  absl::Status Flush();

  // Forgets records in memory: pieces that begin before `offset`, or all.
  void DropPieces(int64_t offset);
  void DropMemory();

  // Behind the last record.
  int64_t end() const { return end_; }

  int64_t file_bytes() const { return file_bytes_; }
  int64_t memory_bytes() const { return memory_bytes_; }

 private:
  struct MemoryRecord {
    int64_t offset;
    std::string bytes;
    bool is_piece;
  };

  absl::Status Write(const std::string& record);
  absl::Status WriteHeader();
  absl::StatusOr<std::string> ReadFromFile(int64_t offset) const;

  const std::string path_;
  int fd_ = -1;
  absl::Status write_error_;  // why the file takes no more
  int64_t file_bytes_ = 0;    // with the first line; 0: there is no file
  int64_t end_ = kBegin;
  std::deque<MemoryRecord> memory_;
  int64_t memory_bytes_ = 0;
  bool has_gap_ = false;  // a record in memory was dropped
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_RESULT_LOG_H_
