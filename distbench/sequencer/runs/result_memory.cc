#include "distbench/sequencer/runs/result_memory.h"

#include <algorithm>
#include <map>
#include <utility>

namespace distbench {

bool ResultMemory::Reserve(int64_t bytes) {
  while (true) {
    std::shared_ptr<DroppableResult> next;
    {
      absl::MutexLock lock(&mutex_);
      if (used_bytes_ + bytes <= limit_bytes_) {
        used_bytes_ += bytes;
        return true;
      }
      next = TakeNextToDrop();
    }
    if (next == nullptr) return false;
    next->DropResult();
  }
}

void ResultMemory::ReserveAnyway(int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  used_bytes_ += bytes;
}

void ResultMemory::Release(int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  used_bytes_ -= bytes;
}

void ResultMemory::AddDroppable(std::weak_ptr<DroppableResult> result,
                                std::string client, int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  ForgetExpired();
  droppable_.push_back({std::move(result), std::move(client), bytes});
}

std::shared_ptr<DroppableResult> ResultMemory::TakeNextToDrop() {
  ForgetExpired();
  std::map<std::string, int64_t> bytes_of;
  for (const Droppable& d : droppable_) bytes_of[d.client] += d.bytes;
  const auto most = std::max_element(
      bytes_of.begin(), bytes_of.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == bytes_of.end()) return nullptr;
  const auto next = std::find_if(
      droppable_.begin(), droppable_.end(),
      [&most](const Droppable& d) { return d.client == most->first; });
  std::shared_ptr<DroppableResult> result = next->result.lock();
  droppable_.erase(next);
  return result;
}

void ResultMemory::ForgetExpired() {
  droppable_.erase(
      std::remove_if(droppable_.begin(), droppable_.end(),
                     [](const Droppable& d) { return d.result.expired(); }),
      droppable_.end());
}

}  // namespace distbench
