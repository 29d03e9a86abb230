// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Activities that read and write files: a disk, a storage server, look-ups of
// features; and what they share.

#ifndef DISTBENCH_ACTIVITY_STORAGE_H_
#define DISTBENCH_ACTIVITY_STORAGE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "distbench/activity/access_pattern.h"
#include "distbench/activity/activity.h"
#include "distbench/activity/data_file.h"
#include "distbench/activity/registry.h"
#include "distbench/base/clock.h"
#include "distbench/stats/log_histogram.h"
#include "openssl/evp.h"

namespace distbench::activity {

// The SHA-1 hash of pages, by OpenSSL. Not for security: it is the CPU time
// that a service spends on each byte which it serves.
class Sha1 {
 public:
  Sha1();

  void Add(absl::Span<const FilePage> pages);

  // The first eight bytes of the hash. Nothing can be added afterwards.
  uint64_t Finish();

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };

  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

// How long single reads and writes took, in nanoseconds. Thread-safe.
class IoLatencies {
 public:
  // Does the operation, measures it, and returns its result.
  template <typename Operation>
  bool Read(Operation operation) ABSL_LOCKS_EXCLUDED(mutex_) {
    const int64_t start_ns = base::RealClock().MonotonicNs();
    const bool is_done = operation();
    const int64_t duration_ns = base::RealClock().MonotonicNs() - start_ns;
    absl::MutexLock lock(&mutex_);
    reads_.Record(duration_ns);
    return is_done;
  }
  template <typename Operation>
  bool Write(Operation operation) ABSL_LOCKS_EXCLUDED(mutex_) {
    const int64_t start_ns = base::RealClock().MonotonicNs();
    const bool is_done = operation();
    const int64_t duration_ns = base::RealClock().MonotonicNs() - start_ns;
    absl::MutexLock lock(&mutex_);
    writes_.Record(duration_ns);
    return is_done;
  }

  // Moves what was measured since the previous call to the histograms, in
  // addition to what they have.
  void Take(stats::LogHistogram& reads, stats::LogHistogram& writes)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    reads.Merge(reads_);
    writes.Merge(writes_);
    reads_.Clear();
    writes_.Clear();
  }

 private:
  absl::Mutex mutex_;
  stats::LogHistogram reads_ ABSL_GUARDED_BY(mutex_);
  stats::LogHistogram writes_ ABSL_GUARDED_BY(mutex_);
};

struct DiskOptions {
  // Activities with the same name and data share their file.
  std::string name;
  std::string directory;
  int64_t data_bytes = 1;   // rounded down to whole blocks, at least one
  int64_t block_bytes = 1;  // whole pages (kFilePageBytes)
  bool is_sequential = false;
  int write_percent = 0;   // of the operations
  int64_t sync_every = 0;  // writes; 0: never
  int64_t operations = 1;  // per iteration
  bool is_direct = false;
  uint64_t seed = 0;

  // Limits the time of an iteration.
  const base::Clock* clock = &base::RealClock();
};

// Reads and writes blocks of a file, one after the other: a neighbour that
// competes for a disk. Sequential operations go on where the previous iteration
// ended, and begin again at the end of the data. An iteration begins no
// operation after kLongestIterationNs: which blocks it leaves out depends on
// the disk, but not what the next iteration does.
absl::StatusOr<std::unique_ptr<Activity>> MakeDisk(const DiskOptions& options);

struct StorageOptions {
  // Activities with the same name and data share their files.
  std::string name;
  std::string directory;

  // Files have whole pages (kFilePageBytes). The set has whole files, at least
  // one, and so has the memory, if it is used.
  int64_t file_set_bytes = 1;
  int64_t file_bytes = 1;
  int64_t memory_bytes = 0;
  int memory_percent = 0;        // of the hashed bytes
  int memory_write_percent = 0;  // of the pages of memory that are hashed

  int64_t hash_bytes = 1;  // per iteration, rounded up to whole pages
  AccessOptions access;
  bool is_direct = false;  // not the log

  int64_t log_bytes = 0;  // per iteration
  int64_t log_capacity_bytes = 1;

  int parallelism = 1;
  uint64_t seed = 0;
};

// The work of a storage service on a request: it reads files of a set, and as
// much anonymous memory, of which a part is hot, hashes what it read, and
// writes a log. If the files and the memory need more memory than there is, the
// cold parts come from the disk. The footprint is therefore file_set_bytes, and
// memory_bytes for each object. An iteration takes as long as its reads do,
// until EndSoon().
absl::StatusOr<std::unique_ptr<Activity>> MakeStorage(
    const StorageOptions& options);

struct FeatureQueryOptions {
  // Activities with the same name and store share its file.
  std::string name;
  std::string directory;
  int64_t rows = 1;
  int64_t row_bytes = 8;  // rounded down to whole words; at most a page
  int64_t lookups = 1;    // per iteration
  AccessOptions access;   // of the rows
  bool is_direct = false;
  int parallelism = 1;
  uint64_t seed = 0;
};

// Reads rows of a store by their keys, one after the other. For each, the page
// that contains it is read; the time is that of the disk, unless the page cache
// has it. An iteration takes as long as its reads do, until EndSoon().
absl::StatusOr<std::unique_ptr<Activity>> MakeFeatureQuery(
    const FeatureQueryOptions& options);

// The activities that read and write files, from their settings.

// Those of config::StorageActivities(). An error names the activity, and says
// what is wrong with its directory.
ActivityMakers StorageMakers();

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_STORAGE_H_
