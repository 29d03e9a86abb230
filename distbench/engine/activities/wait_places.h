#ifndef DISTBENCH_ENGINE_ACTIVITIES_WAIT_PLACES_H_
#define DISTBENCH_ENGINE_ACTIVITIES_WAIT_PLACES_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace distbench {

struct Iteration;
class WaitRunner;

// An iteration that seeks a place. Lives inside it, and stays where it is while
// it is in the queue.
struct PlaceSeeker {
  Iteration* iteration = nullptr;
  WaitRunner* runner = nullptr;  // of the worker that the iteration lives on

  // Of WaitPlaces.
  PlaceSeeker* previous = nullptr;
  PlaceSeeker* next = nullptr;
  bool queued = false;
};

// The places of a pool for activities that wait: given in the order in which
// they were asked for. Nobody is blocked. Thread-safe.
class WaitPlaces {
 public:
  explicit WaitPlaces(int count) : free_(count) {}

  // Returns true if the seeker has a place now; otherwise it queues for one.
  bool Take(PlaceSeeker& seeker);

  // Leaves the queue. Returns false if the seeker has been given a place.
  bool Leave(PlaceSeeker& seeker);

  // Gives a place back. Returns the first in the queue, which has it now; null
  // if there is none.
  PlaceSeeker* Free();

 private:
  void Unlink(PlaceSeeker& seeker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  int free_ ABSL_GUARDED_BY(mutex_);
  PlaceSeeker* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  PlaceSeeker* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_ACTIVITIES_WAIT_PLACES_H_
