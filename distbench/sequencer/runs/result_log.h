// Stores the events of a run as records.

#ifndef DISTBENCH_SEQUENCER_RUNS_RESULT_LOG_H_
#define DISTBENCH_SEQUENCER_RUNS_RESULT_LOG_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

  // Appends to memory. `piece_of`: the test of whose result it is a piece; such
  // records may be dropped when memory is short.
  void Append(std::string record, std::optional<int> piece_of);

  // Returns the next record in memory at or after `offset`, and moves `offset`
  // behind it; null at the end. Skips dropped records.
  Record Read(int64_t& offset) const;

  // Returns the next record to write to the file; null if there is none, or if
  // pieces were dropped.
  Record NextToWrite() const;

  // The record, which NextToWrite() returned, is now in the file. Removes it
  // from memory, unless it was dropped in the meantime.
  void OnWritten(const Record& record);

  // Drops the pieces in memory, and returns the first test that lacks some now;
  // absent if there were none. Nothing is written any more, because the file
  // could never be complete.
  std::optional<int> DropPieces();

  // The offset behind the last record, and behind the last one in the file.
  int64_t end() const { return end_; }
  int64_t file_end() const { return file_end_; }

  int64_t memory_bytes() const { return memory_bytes_; }

  // In memory and in the file.
  int64_t total_bytes() const {
    return (file_end_ > kBegin ? file_end_ : 0) + memory_bytes_;
  }

  // The offsets of the records that were appended and are no pieces.
  const std::vector<int64_t>& whole_offsets() const { return whole_offsets_; }

  bool has_pieces() const { return has_pieces_; }  // some were appended
  bool has_gap() const { return has_gap_; }        // pieces were dropped

 private:
  struct MemoryRecord {
    int64_t offset;
    Record bytes;
    std::optional<int> piece_of;
  };

  int64_t file_end_;
  int64_t end_;
  std::deque<MemoryRecord> memory_;
  int64_t memory_bytes_ = 0;
  std::vector<int64_t> whole_offsets_;
  bool has_pieces_ = false;
  bool has_gap_ = false;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RESULT_LOG_H_
