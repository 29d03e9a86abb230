// The events of a run, as records.

#ifndef DISTBENCH_SEQUENCER_RUNS_RESULT_LOG_H_
#define DISTBENCH_SEQUENCER_RUNS_RESULT_LOG_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace distbench {

// Records, appended at the end and read from anywhere. The first ones are in a
// file, if there is one, which others write and read; the rest is in memory.
// A record has an offset: where it is in the file, or would be.
//
// Thread-compatible, and quick: it does not touch the disk.
class ResultLog {
 public:
  using Record = std::shared_ptr<const std::string>;

  // Of the first record.
  static constexpr int64_t kBegin = 8;

  // A record takes so much in the file besides its bytes.
  static constexpr int64_t kRecordHeaderBytes = 8;

  static int64_t SizeInFile(const std::string& record) {
    return kRecordHeaderBytes + static_cast<int64_t>(record.size());
  }

  // `file_end`: what a file has already.
  explicit ResultLog(int64_t file_end = kBegin)
      : file_end_(file_end), end_(file_end) {}

  // To memory. A record that may be dropped if need be is a piece.
  void Append(std::string record, bool is_piece);

  // The next record in memory at or after the offset, which is moved behind it;
  // null at the end. What was dropped is passed over.
  Record Read(int64_t& offset) const;

  // The record that the file is to get next, which is not dropped before
  // EndWrite(). Null if there is none, or if one before it was dropped.
  Record BeginWrite();

  // If it was written, the record is in the file and not in memory any more.
  void EndWrite(bool is_written);

  // Forgets records in memory that begin before `offset`: pieces, or all.
  void DropPieces(int64_t offset) { DropBefore(offset, /*only_pieces=*/true); }
  void Drop(int64_t offset) { DropBefore(offset, /*only_pieces=*/false); }

  // Behind the last record; and behind the last one in the file.
  int64_t end() const { return end_; }
  int64_t file_end() const { return file_end_; }

  int64_t memory_bytes() const { return memory_bytes_; }

  // A record in memory was dropped: the file will never have all.
  bool has_gap() const { return has_gap_; }

 private:
  struct MemoryRecord {
    int64_t offset;
    Record bytes;
    bool is_piece;
  };

  void DropBefore(int64_t offset, bool only_pieces);

  int64_t file_end_;
  int64_t end_;
  std::deque<MemoryRecord> memory_;
  int64_t memory_bytes_ = 0;
  bool is_writing_ = false;  // the first record
  bool has_gap_ = false;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_RESULT_LOG_H_
