#include "distbench/sequencer/runs/result_log.h"

#include <algorithm>
#include <utility>

namespace distbench::sequencer {

void ResultLog::Append(std::string record, std::optional<int> piece_of) {
  const int64_t offset = end_;
  if (piece_of.has_value()) {
    has_pieces_ = true;
  } else {
    whole_offsets_.push_back(offset);
  }
  end_ += SizeInFile(record);
  memory_bytes_ += record.size();
  memory_.push_back({offset,
                     std::make_shared<const std::string>(std::move(record)),
                     piece_of});
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

std::optional<int> ResultLog::DropPieces() {
  has_gap_ = true;
  std::optional<int> first_test;
  std::erase_if(memory_, [&](const MemoryRecord& record) {
    if (!record.piece_of.has_value()) return false;
    memory_bytes_ -= record.bytes->size();
    if (!first_test.has_value()) first_test = record.piece_of;
    return true;
  });
  return first_test;
}

}  // namespace distbench::sequencer
