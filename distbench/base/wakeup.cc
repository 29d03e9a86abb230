// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/wakeup.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "distbench/base/time_units.h"
#include "glog/logging.h"

namespace distbench::base {
namespace {

int OpenEvent() { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

}  // namespace

Wakeup::Wakeup() : fd_(OpenEvent()) { PCHECK(fd_.is_open()) << "eventfd"; }

absl::StatusOr<Wakeup> Wakeup::Make() {
  FileDescriptor fd(OpenEvent());
  if (!fd.is_open()) return NoDescriptorError("a wake-up of a thread", errno);
  return Wakeup(std::move(fd));
}

void Wakeup::Wake() {
  const uint64_t one = 1;
  // Fails only when the counter is full, and then the sleeper wakes anyway.
  [[maybe_unused]] const ssize_t written = write(fd(), &one, sizeof(one));
}

bool Wakeup::Sleep(int64_t timeout_ns) {
  pollfd descriptor = {.fd = fd(), .events = POLLIN, .revents = 0};
  const timespec timeout = {.tv_sec = timeout_ns / kNsPerSecond,
                            .tv_nsec = timeout_ns % kNsPerSecond};
  if (ppoll(&descriptor, 1, timeout_ns < 0 ? nullptr : &timeout, nullptr) <=
      0) {
    return false;
  }
  uint64_t count;
  return read(fd(), &count, sizeof(count)) == sizeof(count);
}

}  // namespace distbench::base
