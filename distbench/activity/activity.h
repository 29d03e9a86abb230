// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Activities: work that a service does besides RPCs.

#ifndef DISTBENCH_ACTIVITY_ACTIVITY_H_
#define DISTBENCH_ACTIVITY_ACTIVITY_H_

#include <cstdint>

#include "distbench/stats/log_histogram.h"

namespace distbench::activity {

// Antagonists may take arbitrarily long, because the system makes them wait for
// memory, disks or processes. They end an iteration after this time, and the
// next one continues, so that they stop when they are to. Work of a service on
// a request is never cut short like that while it is measured: the request
// would seem faster than it is.
inline constexpr int64_t kLongestIterationNs = 100'000'000;

// Totals of completed work.
struct Work {
  // Derived from the computed values. It proves that the work was done, and
  // keeps the compiler from removing it. Sums do not depend on the order.
  uint64_t checksum = 0;

  // For activities that transform, read or write data.
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;

  // For activities that count them: the operations that were done, and those
  // that the system refused or that failed.
  int64_t operations = 0;
  int64_t failed_operations = 0;

  Work& operator+=(const Work& other) {
    checksum += other.checksum;
    input_bytes += other.input_bytes;
    output_bytes += other.output_bytes;
    operations += other.operations;
    failed_operations += other.failed_operations;
    return *this;
  }
};

// An activity that computes, with the data for one iteration at a time. The
// constructor creates the data. An iteration is a sequence of steps, and a step
// consists of parts, which several threads may do concurrently. The work
// depends only on the data and the number of the iteration, except that of
// activities without a checksum.
class Activity {
 public:
  virtual ~Activity() = default;

  virtual int step_count() const { return 1; }
  virtual int part_count() const { return 1; }

  // Does a part of a step of an iteration. Blocks until it is done.
  virtual Work DoPart(uint64_t iteration, int step, int part) = 0;

  // Adds the latencies of single reads and writes, in nanoseconds, that have
  // ended since the last call. Called after each iteration, before the next.
  virtual void TakeLatencies(stats::LogHistogram& /*read_ns*/,
                             stats::LogHistogram& /*write_ns*/) {}

  // From now on shares what its iterations accumulate with another activity of
  // the same plan, which belongs to another thread of the pool. Called before
  // the first iteration.
  virtual void ShareWith(Activity& /*other*/) {}

  // Gives back what past iterations have accumulated; later ones start afresh.
  // Called once the instance has no more traffic of its own. Thread-safe: parts
  // may be in progress.
  virtual void Release() {}

  // From now on iterations, including those in progress, may leave out the rest
  // of their work, because nobody needs it any more; those that could take long
  // do. Thread-safe: parts may be in progress.
  virtual void EndSoon() {}
};

// Does a whole iteration on the calling thread.
inline Work DoIteration(Activity& activity, uint64_t iteration) {
  Work sum;
  for (int step = 0; step < activity.step_count(); ++step) {
    for (int part = 0; part < activity.part_count(); ++part) {
      sum += activity.DoPart(iteration, step, part);
    }
  }
  return sum;
}

// One part's share of `count` items.
struct Share {
  int64_t begin;
  int64_t end;

  int64_t size() const { return end - begin; }
};

// The sizes of shares differ by at most one. Requires count * parts < 2^63.
inline Share ShareOf(int64_t count, int part, int parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_ACTIVITY_H_
