// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/stop_signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "glog/logging.h"

namespace distbench::base {

namespace {

sigset_t StopSignalSet() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

bool IsPassedOn(const signalfd_siginfo& signal) {
  return signal.ssi_code == SI_QUEUE && signal.ssi_int == kPassedOnSignal;
}

// Of the calling thread, which must be the one that the program began with.
int DeathSignal() {
  int number = 0;
  prctl(PR_GET_PDEATHSIG, &number);
  return number;
}

// Makes the signals readable from the returned file descriptor.
int InterceptStopSignals() {
  const sigset_t signals = StopSignalSet();
  PCHECK(pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0);
  // An ignored signal may be discarded instead of staying pending.
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  const int fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  PCHECK(fd >= 0) << "signalfd";
  return fd;
}

}  // namespace

StopSignals::StopSignals(int exit_code)
    : exit_code_(exit_code),
      parent_(getppid()),
      death_signal_(DeathSignal()),
      signal_fd_(InterceptStopSignals()),
      listener_([this] { Listen(); }) {}

StopSignals::~StopSignals() {
  end_of_listening_.Wake();
  listener_.join();
  close(signal_fd_);
  const sigset_t signals = StopSignalSet();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void StopSignals::Listen() {
  pollfd descriptors[] = {
      {.fd = signal_fd_, .events = POLLIN, .revents = 0},
      {.fd = end_of_listening_.fd(), .events = POLLIN, .revents = 0},
  };
  // The handler gets its own thread: it may take long, and this thread must see
  // the second signal.
  std::thread requester;
  bool was_sent = false;
  bool was_passed_on = false;
  while (true) {
    const int ready = poll(descriptors, 2, -1);
    PCHECK(ready > 0 || errno == EINTR) << "poll";
    if (ready < 0) continue;
    if (descriptors[1].revents != 0) break;
    signalfd_siginfo signal;
    if (read(signal_fd_, &signal, sizeof(signal)) != sizeof(signal)) continue;
    const bool is_of_death = signal.ssi_signo == death_signal_ &&
                             signal.ssi_code == SI_USER &&
                             signal.ssi_pid == parent_;
    if (!is_of_death) {
      bool& was_received = IsPassedOn(signal) ? was_passed_on : was_sent;
      if (was_received) _exit(exit_code_);
      was_received = true;
    }
    if (!requester.joinable()) requester = std::thread([this] { Request(); });
  }
  if (requester.joinable()) requester.join();
}

void StopSignals::Wait() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&requested_));
}

bool StopSignals::requested() const {
  absl::MutexLock lock(&mutex_);
  return requested_;
}

void StopSignals::Request() {
  absl::MutexLock lock(&mutex_);
  requested_ = true;
  if (handler_) std::exchange(handler_, {})();
}

void StopSignals::SetHandler(std::function<void()> handler) {
  absl::MutexLock lock(&mutex_);
  handler_ = std::move(handler);
  if (requested_ && handler_) std::exchange(handler_, {})();
}

}  // namespace distbench::base
