// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/standard_output.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include <iostream>

#include "absl/status/status.h"

namespace distbench::base {
namespace {

// Whether stdout is a pipe, socket or terminal without another end.
bool ReaderIsGone() {
  pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&output, 1, /*timeout=*/0) > 0 &&
         (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

absl::Status FinishStandardOutput() {
  errno = 0;
  std::cout.flush();
  fflush(stdout);
  const int reason = errno;
  if (std::cout.good() && ferror(stdout) == 0) return absl::OkStatus();
  if (ReaderIsGone()) return absl::OkStatus();
  // What failed earlier was dropped, and with it the reason.
  return reason != 0
             ? absl::ErrnoToStatus(reason, "cannot write /dev/stdout")
             : absl::DataLossError(
                   "cannot write /dev/stdout: not all that was printed got "
                   "there; is the disk full?");
}

}  // namespace distbench::base
