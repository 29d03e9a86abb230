#include "distbench/engine/activity_pools/wait_places.h"

namespace distbench::engine {

bool WaitPlaces::Take(PlaceSeeker& seeker) {
  absl::MutexLock lock(&mutex_);
  if (free_ > 0) {
    --free_;
    return true;
  }
  seeker.queued = true;
  queue_.Push(seeker);
  return false;
}

bool WaitPlaces::Leave(PlaceSeeker& seeker) {
  absl::MutexLock lock(&mutex_);
  if (!seeker.queued) return false;
  seeker.queued = false;
  queue_.Remove(seeker);
  return true;
}

PlaceSeeker* WaitPlaces::Free() {
  absl::MutexLock lock(&mutex_);
  PlaceSeeker* const next = queue_.front();
  if (next == nullptr) {
    ++free_;
  } else {
    next->queued = false;
    queue_.Remove(*next);
  }
  return next;
}

}  // namespace distbench::engine
