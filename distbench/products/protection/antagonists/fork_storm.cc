// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/antagonists/fork_storm.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/base/time_units.h"

namespace distbench::protection {
namespace {

constexpr int kCannotRun = 127;

// How long an iteration takes that could start nothing, lest it become a load
// on the CPU.
constexpr absl::Duration kNothingStarted = absl::Milliseconds(1);

struct Child {
  pid_t pid;

  // pidfd_open(2). A child without it, when there are too many open files, is
  // not waited for but killed.
  base::FileDescriptor handle;
};

// Runs in the child. Other threads of the parent may have held locks when it
// was copied, so this makes system calls only.
[[noreturn]] void BeChild(const char* program, char* const* arguments,
                          char* const* environment) {
  if (program != nullptr) execve(program, arguments, environment);
  _exit(program == nullptr ? 0 : kCannotRun);
}

class ForkStorm final : public activity::Activity {
 public:
  explicit ForkStorm(const ForkStormOptions& options)
      : options_(options),
        program_(options_.program.empty() ? nullptr : options_.program.c_str()),
        arguments_{options_.program.data(), nullptr} {
    children_.reserve(options_.children);
  }

  activity::Work DoPart(uint64_t /*iteration*/, int /*step*/,
                        int /*part*/) override {
    activity::Work work;
    const int64_t start_ns = options_.clock->MonotonicNs();
    for (int64_t i = 0; i < options_.children; ++i) {
      if (i > 0 && !IsBefore(start_ns + activity::kLongestIterationNs)) break;
      if (!Start()) {
        ++work.failed_operations;
        break;
      }
    }
    if (children_.empty()) absl::SleepFor(kNothingStarted);
    EndAll(work);
    return work;
  }

 private:
  bool IsBefore(int64_t end_ns) const {
    return options_.clock->MonotonicNs() < end_ns;
  }

  // Returns whether there is a child more.
  bool Start() {
    // Unlike fork(), does not run what libraries have registered for forks,
    // which may wait for other threads.
    const pid_t pid = _Fork();
    if (pid == 0) BeChild(program_, arguments_, environ);
    if (pid < 0) return false;
    children_.push_back({pid, base::FileDescriptor(static_cast<int>(
                                  syscall(SYS_pidfd_open, pid, /*flags=*/0)))});
    return true;
  }

  void EndAll(activity::Work& work) {
    const int64_t end_ns = options_.clock->MonotonicNs() + options_.patience_ns;
    for (Child& child : children_) {
      WaitUntil(end_ns, child);
      if (Reap(child)) {
        ++work.operations;
      } else {
        ++work.failed_operations;
      }
    }
    children_.clear();
  }

  void WaitUntil(int64_t end_ns, const Child& child) const {
    pollfd event = {.fd = child.handle.get(), .events = POLLIN, .revents = 0};
    while (child.handle.is_open()) {
      const int64_t left_ns = end_ns - options_.clock->MonotonicNs();
      const int ready = poll(
          &event, 1,
          static_cast<int>(std::max<int64_t>(0, left_ns) / base::kNsPerMs));
      if (ready >= 0 || errno != EINTR) return;
    }
  }

  // Returns whether the child has succeeded. If it has not ended, kills it; a
  // child that has ended does not notice.
  static bool Reap(const Child& child) {
    int wait_status = 0;
    // Its pid is not reused until it has been waited for.
    if (waitpid(child.pid, &wait_status, WNOHANG) == 0) {
      kill(child.pid, SIGKILL);
      while (waitpid(child.pid, &wait_status, 0) < 0 && errno == EINTR) {
      }
    }
    return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
  }

  ForkStormOptions options_;
  const char* const program_;
  char* const arguments_[2];
  std::vector<Child> children_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<activity::Activity>> MakeForkStorm(
    const ForkStormOptions& options) {
  if (!options.program.empty() && access(options.program.c_str(), X_OK) != 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("cannot execute ", options.program,
                            "; install it, or set program to \"none\""));
  }
  return std::make_unique<ForkStorm>(options);
}

}  // namespace distbench::protection
