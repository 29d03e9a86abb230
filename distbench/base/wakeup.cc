#include "distbench/base/wakeup.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <ctime>

#include "distbench/base/time_units.h"
#include "glog/logging.h"

namespace distbench::base {

Wakeup::Wakeup() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  PCHECK(fd_.is_open()) << "eventfd";
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
