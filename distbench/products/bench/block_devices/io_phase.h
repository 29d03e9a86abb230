// A phase of the measurement of a block device: reads, writes or both, as many
// as possible or at given rates.

#ifndef DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_IO_PHASE_H_
#define DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_IO_PHASE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "proto/bench.pb.h"

namespace distbench::bench {

struct IoPhase {
  std::string name;
  int64_t block_bytes = 4096;

  // Blocks in random order; otherwise one after the other, over all threads.
  bool is_random = false;

  // Operations in flight at most: a thread for each.
  int queue_depth = 1;

  // Operations per second; 0: none. With kUnlimited, a thread starts the next
  // one when its last one has ended; only one of the two may be unlimited.
  static constexpr double kUnlimited = -1;
  double read_rate = 0;
  double write_rate = 0;

  // The measurement follows the warm-up.
  absl::Duration warmup;
  absl::Duration duration;
};

struct IoOperation {
  int thread = 0;  // from 0 to queue_depth - 1
  bool is_write = false;
  int64_t offset = 0;
  int64_t bytes = 0;
};

// Returns when the real clock's monotonic time is `until_ns` or later.
void SleepUntil(int64_t until_ns);

// What a phase runs on. The functions are called on several threads.
struct IoTarget {
  // The range of offsets; at least one block.
  int64_t size_bytes = 0;

  // Returns when the operation has ended.
  std::function<absl::Status(const IoOperation&)> run;

  const base::Clock* clock = &base::RealClock();

  // As SleepUntil(), for this clock.
  std::function<void(int64_t until_ns)> sleep = &SleepUntil;

  // Ends the phase early.
  std::function<bool()> is_cancelled;
};

// Runs a phase. Counts operations that end within its duration after the
// warm-up. Operations at given rates that are late are made up for, but not
// after the end. Returns the first error of an operation, CANCELLED if it was,
// or INVALID_ARGUMENT if the target is smaller than a block.
absl::StatusOr<IoPhaseRecord> RunIoPhase(const IoPhase& phase,
                                         const IoTarget& target);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_IO_PHASE_H_
