#include "distbench/engine/activity_pools/wait_places.h"

namespace distbench::engine {

bool WaitPlaces::Take(PlaceSeeker& seeker) {
  absl::MutexLock lock(&mutex_);
  if (free_ > 0) {
    --free_;
    return true;
  }
  seeker.previous = last_;
  seeker.next = nullptr;
  seeker.queued = true;
  (last_ == nullptr ? first_ : last_->next) = &seeker;
  last_ = &seeker;
  return false;
}

bool WaitPlaces::Leave(PlaceSeeker& seeker) {
  absl::MutexLock lock(&mutex_);
  if (!seeker.queued) return false;
  Unlink(seeker);
  return true;
}

PlaceSeeker* WaitPlaces::Free() {
  absl::MutexLock lock(&mutex_);
  PlaceSeeker* const next = first_;
  if (next == nullptr) {
    ++free_;
  } else {
    Unlink(*next);
  }
  return next;
}

void WaitPlaces::Unlink(PlaceSeeker& seeker) {
  (seeker.previous == nullptr ? first_ : seeker.previous->next) = seeker.next;
  (seeker.next == nullptr ? last_ : seeker.next->previous) = seeker.previous;
  seeker.queued = false;
}

}  // namespace distbench::engine
