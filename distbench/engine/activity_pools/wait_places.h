#ifndef DISTBENCH_ENGINE_ACTIVITY_POOLS_WAIT_PLACES_H_
#define DISTBENCH_ENGINE_ACTIVITY_POOLS_WAIT_PLACES_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/linked_queue.h"

namespace distbench::engine {

struct Iteration;
class WaitRunner;

// An iteration that wants a place. It is a member of the iteration and must not
// move while it is queued.
struct PlaceSeeker {
  Iteration* iteration = nullptr;
  WaitRunner* runner = nullptr;  // of the iteration's worker

  // Since when the place that it was given had been free: monotonic.
  int64_t free_since_ns = 0;

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
  absl::Mutex mutex_;
  int free_ ABSL_GUARDED_BY(mutex_);
  base::LinkedQueue<PlaceSeeker> queue_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_ACTIVITY_POOLS_WAIT_PLACES_H_
