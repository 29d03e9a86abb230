#ifndef DISTBENCH_ENGINE_WORKER_PACER_H_
#define DISTBENCH_ENGINE_WORKER_PACER_H_

#include <cstdint>

#include "absl/random/bit_gen_ref.h"
#include "distbench/config/plan/plan.h"

namespace distbench {

// The intended times of an open loop's iterations, one after the other.
//
// An action may be shared by several workers. Each has a pacer of its own, and
// together they keep the arrival process: constant and synchronised arrivals
// are dealt out in turn; a Poisson process is thinned, which leaves Poisson
// processes of an n-th of the rate.
class Pacer {
 public:
  struct Position {
    int64_t start_ns = 0;  // of the action, monotonic
    int shard = 0;         // of shard_count
    int shard_count = 1;
    // For synchronised bursts: what to add to monotonic time to get the
    // cluster's common clock, and which of how many instances this is.
    int64_t common_clock_offset_ns = 0;
    int instance = 0;
    int instance_count = 1;
  };

  Pacer() = default;
  Pacer(const IterationsPlan& plan, const Position& position,
        absl::BitGenRef random);

  // When the next iteration is intended to start, monotonic. May be long past.
  int64_t next_ns() const { return next_ns_; }

  // Whether the next iteration is beyond the action's duration. The first one
  // never is.
  bool exhausted() const { return !first_ && next_ns_ > last_ns_; }

  // How many iterations are due by now_ns and within the action's duration, the
  // next one included; for a Poisson process the expected number.
  int64_t due_count(int64_t now_ns) const;

  // Moves on to the iteration after the next one.
  void Advance(absl::BitGenRef random);

  // Moves on by that many iterations, at their mean distance.
  void Skip(int64_t count);

 private:
  int64_t ExponentialGap(absl::BitGenRef random) const;

  bool exponential_ = false;
  bool first_ = true;
  int64_t step_ns_ = 0;  // between this shard's iterations; the mean if random
  int64_t next_ns_ = 0;
  int64_t last_ns_ = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_WORKER_PACER_H_
