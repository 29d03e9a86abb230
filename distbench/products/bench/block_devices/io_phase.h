// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A phase of the measurement of a block device: reads, writes or both, as many
// as possible or at given rates.

#ifndef DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_IO_PHASE_H_
#define DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_IO_PHASE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/base/files.h"
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

// A file of random bytes on which a disk is measured.

// Reads and writes go to the device, past the page cache. The file has no name,
// so that it disappears with the process, however that ends.
class ScratchFile {
 public:
  struct Options {
    std::string folder;
    int64_t size_bytes = 0;
    int64_t largest_block_bytes = 0;  // a multiple of 4 KiB
    int threads = 1;
    std::function<bool()> is_cancelled;
  };

  // Writes the whole file, rounded down to whole blocks. The error names the
  // folder and what it lacks: space, permission, or direct I/O (memory file
  // systems have none). CANCELLED if it was.
  static absl::StatusOr<std::unique_ptr<ScratchFile>> Create(
      const Options& options);

  int64_t size_bytes() const { return size_bytes_; }

  // An operation of a phase. Thread-safe for different `operation.thread`s.
  absl::Status Run(const IoOperation& operation);

 private:
  ScratchFile(base::FileDescriptor file, std::string folder)
      : file_(std::move(file)), folder_(std::move(folder)) {}

  absl::Status Fill(const Options& options);

  struct Free {
    void operator()(char* memory) const;
  };

  const base::FileDescriptor file_;
  const std::string folder_;
  int64_t size_bytes_ = 0;
  std::vector<std::unique_ptr<char, Free>> buffers_;  // one for each thread
};

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_IO_PHASE_H_
