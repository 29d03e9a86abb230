// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_PACING_PACER_H_
#define DISTBENCH_ENGINE_PACING_PACER_H_

#include <cstdint>
#include <memory>

#include "absl/random/bit_gen_ref.h"
#include "distbench/config/arrivals/arrival_stream.h"
#include "distbench/config/plan/plan.h"

namespace distbench::engine {

// The intended start times of an open loop's iterations, in sequence.
//
// An action may be shared by several workers. Each has its own pacer, and
// together they preserve the arrival process: constant and synchronised
// arrivals are dealt out in turn; a Poisson process is thinned, which leaves n
// Poisson processes of 1/n of the rate. Composed arrivals are dealt out in turn
// from one sequence, which every worker draws from the same seed.
class Pacer {
 public:
  struct Position {
    int64_t start_ns = 0;  // start of the action, monotonic
    int shard = 0;         // number from 0, below shard_count
    int shard_count = 1;
    // For synchronised bursts: the difference to add to monotonic time to get
    // the cluster's common clock, and the number of this instance among
    // instance_count.
    int64_t common_clock_offset_ns = 0;
    int instance = 0;
    int instance_count = 1;
    // For composed arrivals.
    uint64_t arrival_seed = 0;
  };

  Pacer() = default;
  Pacer(const config::IterationsPlan& plan, const Position& position,
        absl::BitGenRef random);

  // Searches for the next iteration, if it is not known yet, until it is found
  // or known to be later than until_ns. Call this before next_ns().
  void Settle(int64_t until_ns) {
    if (!settled_) Search(until_ns);
  }

  // The intended start of the next iteration (monotonic), perhaps long past; or
  // a time before it, at which to call Settle() again.
  int64_t next_ns() const { return next_ns_; }

  // Whether the next iteration is beyond the action's duration. The first one
  // never is.
  bool exhausted() const { return !first_ && next_ns_ > last_ns_; }

  // Returns how many iterations are due by now_ns and within the action's
  // duration, including the next one; for a Poisson process, the expected
  // number. Of composed arrivals, the first million is exact, and the error of
  // more is below 0.0002 of them. Times must not decrease from call to call.
  int64_t due_count(int64_t now_ns);

  // Moves on to the iteration after the next one.
  void Advance(absl::BitGenRef random);

  // Skips `count` iterations, assuming their mean distance; up to ten composed
  // arrivals exactly.
  void Skip(int64_t count);

 private:
  int64_t ExponentialGap(absl::BitGenRef random) const;
  int64_t TimeNs(const config::ArrivalStream& stream) const;
  void Search(int64_t until_ns);
  void TakeTime();
  void AdvanceStream();
  void LeaveBehind(int64_t count);
  int64_t CountAhead(int64_t end_ns);

  bool exponential_ = false;
  bool first_ = true;
  bool settled_ = true;
  int64_t step_ns_ = 0;  // between this shard's iterations; the mean if random
  int64_t next_ns_ = 0;
  int64_t last_ns_ = 0;

  // Composed arrivals only.
  int64_t start_ns_ = 0;
  std::unique_ptr<config::ArrivalStream> stream_;
  // A copy that is ahead_count_ arrivals further, while it is in use: what is
  // due is counted by drawing it.
  std::unique_ptr<config::ArrivalStream> ahead_;
  bool ahead_in_use_ = false;
  int64_t ahead_count_ = 0;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_PACING_PACER_H_
