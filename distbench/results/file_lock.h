// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_RESULTS_FILE_LOCK_H_
#define DISTBENCH_RESULTS_FILE_LOCK_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "distbench/base/files.h"

namespace distbench::results {

// Keeps other processes of distbench from a file that this one replaces again
// and again, by a lock on a file beside it, NAME.lock, which is gone when the
// lock is released. What a killed process leaves of it locks nothing.
class FileLock {
 public:
  // FAILED_PRECONDITION if another process has the lock; otherwise the error
  // says why NAME.lock cannot be made. Pipes and devices, which are not
  // replaced, have no lock. The lock is the same by all links to a file, which
  // need not exist.
  static absl::StatusOr<std::unique_ptr<FileLock>> Take(
      const std::string& path);

  ~FileLock();

  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  FileLock(std::string lock_path, base::FileDescriptor lock)
      : lock_path_(std::move(lock_path)), lock_(std::move(lock)) {}

  const std::string lock_path_;  // empty if there is none
  const base::FileDescriptor lock_;
};

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_FILE_LOCK_H_
