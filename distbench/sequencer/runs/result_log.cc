#include "distbench/sequencer/runs/result_log.h"

#include <algorithm>
#include <utility>

namespace distbench::sequencer {

void ResultLog::Append(std::string record, bool is_piece) {
  const int64_t offset = end_;
  if (!is_piece) whole_offsets_.push_back(offset);
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

ResultLog::Record ResultLog::NextToWrite() const {
  return memory_.empty() || has_gap_ ? nullptr : memory_.front().bytes;
}

void ResultLog::OnWritten(const Record& record) {
  if (memory_.empty() || memory_.front().bytes != record) return;
  file_end_ += SizeInFile(*record);
  memory_bytes_ -= record->size();
  memory_.pop_front();
}

void ResultLog::DropPieces() {
  has_gap_ = true;
  std::erase_if(memory_, [this](const MemoryRecord& record) {
    if (record.is_piece) memory_bytes_ -= record.bytes->size();
    return record.is_piece;
  });
}

}  // namespace distbench::sequencer
