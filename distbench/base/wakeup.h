// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_WAKEUP_H_
#define DISTBENCH_BASE_WAKEUP_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"

namespace distbench::base {

// Lets one thread sleep until a time or until another thread wakes it. A
// wake-up that comes before the sleep is not lost: the next sleep returns at
// once.
class Wakeup {
 public:
  // For those that a program has from its start: running out of descriptors
  // ends it.
  Wakeup();

  // For those whose number depends on input. The error names the remedy.
  static absl::StatusOr<Wakeup> Make();

  Wakeup(Wakeup&&) = default;
  Wakeup& operator=(Wakeup&&) = delete;

  // Any thread.
  void Wake();

  // One thread only. timeout_ns < 0 waits without limit. Returns whether it was
  // woken. The time is that of the monotonic clock.
  bool Sleep(int64_t timeout_ns);

  // Readable when Sleep() would return at once; for use with epoll.
  int fd() const { return fd_.get(); }

 private:
  explicit Wakeup(FileDescriptor fd) : fd_(std::move(fd)) {}

  FileDescriptor fd_;
};

// The timeout_ns of a duration, which may be infinite.
inline int64_t ToTimeoutNs(absl::Duration timeout) {
  return timeout == absl::InfiniteDuration()
             ? -1
             : absl::ToInt64Nanoseconds(timeout);
}

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_WAKEUP_H_
