#include "distbench/sequencer/runs/result_memory.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace distbench::sequencer {

ResultMemory::Room ResultMemory::Reserve(int64_t bytes, bool cut_off_readers) {
  std::vector<Droppable> being_read;
  Room room = Room::kReserved;
  while (true) {
    std::optional<Droppable> next;
    {
      absl::MutexLock lock(&mutex_);
      const bool fits = used_bytes_ + bytes <= limit_bytes_;
      if (!fits) next = TakeNextToDrop();
      if (!next.has_value()) {
        if (fits) {
          used_bytes_ += bytes;
        } else {
          room = being_read.empty() ? Room::kNone : Room::kMayCome;
        }
        // These are still the oldest.
        droppable_.insert(droppable_.begin(), being_read.begin(),
                          being_read.end());
        return room;
      }
    }
    const std::shared_ptr<DroppableResult> result = next->result.lock();
    if (result != nullptr && !result->DropResult(cut_off_readers)) {
      being_read.push_back(*std::move(next));
    }
  }
}

void ResultMemory::ReserveAnyway(int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  used_bytes_ += bytes;
}

void ResultMemory::Release(int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  used_bytes_ -= bytes;
  ++changes_;
}

void ResultMemory::NoteChange() {
  absl::MutexLock lock(&mutex_);
  ++changes_;
}

bool ResultMemory::AwaitChange(int64_t seen, absl::Duration timeout) const {
  absl::MutexLock lock(&mutex_);
  const auto has_changed = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return changes_ > seen;
  };
  return mutex_.AwaitWithTimeout(absl::Condition(&has_changed), timeout);
}

void ResultMemory::AddDroppable(std::weak_ptr<DroppableResult> result,
                                std::string client, int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  ForgetExpired();
  droppable_.push_back({std::move(result), std::move(client), bytes});
}

std::optional<ResultMemory::Droppable> ResultMemory::TakeNextToDrop() {
  ForgetExpired();
  std::map<std::string, int64_t> bytes_of;
  for (const Droppable& d : droppable_) bytes_of[d.client] += d.bytes;
  const auto most = std::max_element(
      bytes_of.begin(), bytes_of.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == bytes_of.end()) return std::nullopt;
  const auto next = std::find_if(
      droppable_.begin(), droppable_.end(),
      [&most](const Droppable& d) { return d.client == most->first; });
  Droppable taken = std::move(*next);
  droppable_.erase(next);
  return taken;
}

void ResultMemory::ForgetExpired() {
  droppable_.erase(
      std::remove_if(droppable_.begin(), droppable_.end(),
                     [](const Droppable& d) { return d.result.expired(); }),
      droppable_.end());
}

}  // namespace distbench::sequencer
