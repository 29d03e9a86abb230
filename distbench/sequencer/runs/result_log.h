// Stores the events of a run as records.

#ifndef DISTBENCH_SEQUENCER_RUNS_RESULT_LOG_H_
#define DISTBENCH_SEQUENCER_RUNS_RESULT_LOG_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace distbench::sequencer {

// Records are appended at the end and read from anywhere. The first ones may be
// in a file, which the caller writes and reads; the rest are in memory. A
// record's offset is its position in the file, or the position that it would
// have there.
//
// Thread-compatible. No method touches the disk.
class ResultLog {
 public:
  using Record = std::shared_ptr<const std::string>;

  // The offset of the first record.
  static constexpr int64_t kBegin = 8;

  // The overhead of a record in the file.
  static constexpr int64_t kRecordHeaderBytes = 8;

  static int64_t SizeInFile(const std::string& record) {
    return kRecordHeaderBytes + static_cast<int64_t>(record.size());
  }

  // file_end: the size of the records' file, if there is one already.
  explicit ResultLog(int64_t file_end = kBegin)
      : file_end_(file_end), end_(file_end) {}

  // Appends to memory. Records with is_piece may be dropped when memory is
  // short.
  void Append(std::string record, bool is_piece);

  // Returns the next record in memory at or after `offset`, and moves `offset`
  // behind it; null at the end. Skips dropped records.
  Record Read(int64_t& offset) const;

  // Returns the next record to write to the file; it is not dropped before
  // EndWrite(). Null if there is none, or if an earlier one was dropped.
  Record BeginWrite();

  // If is_written, the record is now in the file and is removed from memory.
  void EndWrite(bool is_written);

  // Drop records in memory that begin before `offset`: only pieces, or all.
  void DropPieces(int64_t offset) { DropBefore(offset, /*only_pieces=*/true); }
  void Drop(int64_t offset) { DropBefore(offset, /*only_pieces=*/false); }

  // The offset behind the last record, and behind the last one in the file.
  int64_t end() const { return end_; }
  int64_t file_end() const { return file_end_; }

  int64_t memory_bytes() const { return memory_bytes_; }

  // Whether a record in memory was dropped, so that the file can never be
  // complete.
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

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RESULT_LOG_H_
