#include "distbench/sequencer/runs/result_log.h"

#include <algorithm>
#include <utility>

namespace distbench::sequencer {

void ResultLog::Append(std::string record, bool is_piece) {
  const int64_t offset = end_;
  end_ += SizeInFile(record);
  memory_bytes_ += record.size();
  memory_.push_back({offset,
                     std::make_shared<const std::string>(std::move(record)),
                     is_piece});
}

ResultLog::Record ResultLog::Read(int64_t& offset) const {
  const auto next =
      std::lower_bound(memory_.begin(), memory_.end(), offset,
                       [](const MemoryRecord& record, int64_t offset) {
                         return record.offset < offset;
                       });
  if (next == memory_.end()) {
    offset = end_;
    return nullptr;
  }
  offset = next->offset + SizeInFile(*next->bytes);
  return next->bytes;
}

ResultLog::Record ResultLog::BeginWrite() {
  if (memory_.empty() || has_gap_) return nullptr;
  is_writing_ = true;
  return memory_.front().bytes;
}

void ResultLog::EndWrite(bool is_written) {
  is_writing_ = false;
  if (!is_written) return;
  const Record& record = memory_.front().bytes;
  file_end_ += SizeInFile(*record);
  memory_bytes_ -= record->size();
  memory_.pop_front();
}

void ResultLog::DropBefore(int64_t offset, bool only_pieces) {
  std::deque<MemoryRecord> kept;
  for (MemoryRecord& record : memory_) {
    const bool is_being_written = is_writing_ && &record == &memory_.front();
    if (record.offset >= offset || is_being_written ||
        (only_pieces && !record.is_piece)) {
      kept.push_back(std::move(record));
    } else {
      has_gap_ = true;
      memory_bytes_ -= record.bytes->size();
    }
  }
  memory_ = std::move(kept);
}

}  // namespace distbench::sequencer
