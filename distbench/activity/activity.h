// Work that a service does besides RPCs.

#ifndef DISTBENCH_ACTIVITY_ACTIVITY_H_
#define DISTBENCH_ACTIVITY_ACTIVITY_H_

#include <cstdint>

namespace distbench {

// What was done, as far as it can be added up.
struct Work {
  // Follows from what was computed: shows that it was done, and keeps the
  // compiler from leaving it out. Sums do not depend on the order.
  uint64_t checksum = 0;

  // Of activities that turn some data into other data.
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;

  Work& operator+=(const Work& other) {
    checksum += other.checksum;
    input_bytes += other.input_bytes;
    output_bytes += other.output_bytes;
    return *this;
  }
};

// An activity that computes: what one iteration at a time needs for it. Its
// data is made by the constructor. An iteration consists of steps, one after
// the other; a step of parts, which several threads may do at the same time.
// The work follows from the data and the iteration's number alone.
class Activity {
 public:
  virtual ~Activity() = default;

  virtual int step_count() const { return 1; }
  virtual int part_count() const { return 1; }

  // Does a part of a step of an iteration. Blocks for as long as that takes.
  virtual Work DoPart(uint64_t iteration, int step, int part) = 0;
};

// A whole iteration on the calling thread.
inline Work DoIteration(Activity& activity, uint64_t iteration) {
  Work sum;
  for (int step = 0; step < activity.step_count(); ++step) {
    for (int part = 0; part < activity.part_count(); ++part) {
      sum += activity.DoPart(iteration, step, part);
    }
  }
  return sum;
}

// The part of `count` things that falls to one of several.
struct Share {
  int64_t begin;
  int64_t end;

  int64_t size() const { return end - begin; }
};

// Shares differ by one at most. Requires count * parts < 2^63.
inline Share ShareOf(int64_t count, int part, int parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_ACTIVITY_H_
