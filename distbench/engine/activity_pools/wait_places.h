#ifndef DISTBENCH_ENGINE_ACTIVITY_POOLS_WAIT_PLACES_H_
#define DISTBENCH_ENGINE_ACTIVITY_POOLS_WAIT_PLACES_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace distbench::engine {

struct Iteration;
class WaitRunner;

// An iteration that wants a place. It is a member of the iteration and must not
// move while it is queued.
struct PlaceSeeker {
  Iteration* iteration = nullptr;
  WaitRunner* runner = nullptr;  // of the iteration's worker

  // Used by WaitPlaces only.
  PlaceSeeker* previous = nullptr;
  PlaceSeeker* next = nullptr;
  bool queued = false;
};

// The places of a pool for activities that wait, given in the order of the
// requests. Blocks nobody. Thread-safe.
class WaitPlaces {
 public:
  explicit WaitPlaces(int count) : free_(count) {}

  // Returns true if the seeker gets a place now; otherwise queues it.
  bool Take(PlaceSeeker& seeker);

  // Takes the seeker out of the queue. Returns false if it has already been
  // given a place.
  bool Leave(PlaceSeeker& seeker);

  // Gives a place back. Returns the first seeker in the queue, which now holds
  // the place; null if the queue is empty.
  PlaceSeeker* Free();

 private:
  void Unlink(PlaceSeeker& seeker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  int free_ ABSL_GUARDED_BY(mutex_);
  PlaceSeeker* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  PlaceSeeker* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_ACTIVITY_POOLS_WAIT_PLACES_H_
