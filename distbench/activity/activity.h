// Activities: work that a service does besides RPCs.

#ifndef DISTBENCH_ACTIVITY_ACTIVITY_H_
#define DISTBENCH_ACTIVITY_ACTIVITY_H_

#include <cstdint>

#include "distbench/stats/log_histogram.h"

namespace distbench {

// Totals of completed work.
struct Work {
  // Derived from the computed values. It proves that the work was done, and
  // keeps the compiler from removing it. Sums do not depend on the order.
  uint64_t checksum = 0;

  // For activities that transform data.
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;

  // Reads and writes of files that the system refused.
  int64_t failed_operations = 0;

  Work& operator+=(const Work& other) {
    checksum += other.checksum;
    input_bytes += other.input_bytes;
    output_bytes += other.output_bytes;
    failed_operations += other.failed_operations;
    return *this;
  }
};

// An activity that computes, with the data for one iteration at a time. The
// constructor creates the data. An iteration is a sequence of steps, and a step
// consists of parts, which several threads may do concurrently. The work
// depends only on the data and the number of the iteration.
class Activity {
 public:
  virtual ~Activity() = default;

  virtual int step_count() const { return 1; }
  virtual int part_count() const { return 1; }

  // Does a part of a step of an iteration. Blocks until it is done.
  virtual Work DoPart(uint64_t iteration, int step, int part) = 0;

  // Adds the latencies in nanoseconds of the single reads and writes of files
  // since the previous call. Not during a part.
  virtual void TakeLatencies(LogHistogram& /*reads*/,
                             LogHistogram& /*writes*/) {}
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

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_ACTIVITY_H_
