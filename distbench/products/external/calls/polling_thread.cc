// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/calls/polling_thread.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "distbench/base/threads.h"
#include "distbench/protocol/driver.h"

namespace distbench::external {
namespace {

constexpr char kThreadName[] = "external_calls";

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// The one that the calling thread is.
thread_local const PollingThread* this_thread = nullptr;

}  // namespace

PollingThread::PollingThread(std::unique_ptr<protocol::WakeTimer::Alarm> alarm,
                             std::function<void()> wake)
    : queue_(std::move(alarm), /*spin_ns=*/0), wake_(std::move(wake)) {
  // A queue that is in use is slept at; the worker starts calls on it later.
  queue_.get();
  thread_ = std::thread(&PollingThread::Run, this);
}

PollingThread::~PollingThread() {
  protocol::NoEvents nobody;
  queue_.DrainForever(nobody);
}

void PollingThread::Stop() {
  stopped_ = true;
  queue_.Wake();
  thread_.join();
}

void PollingThread::Run() {
  base::NameThread(kThreadName);
  this_thread = this;
  protocol::NoEvents nobody;
  while (!stopped_) {
    wakes_at_once_ = true;
    queue_.Poll(kNever, nobody);
    if (std::exchange(owes_wake_, false)) wake_();
  }
}

// Often this thread runs the worker's turn itself. The first event of a poll
// gets one at once, because it may be the only one; those that come with it
// share another one.
void PollingThread::WakeSoon() {
  if (this_thread != this || std::exchange(wakes_at_once_, false)) {
    wake_();
  } else {
    owes_wake_ = true;
  }
}

}  // namespace distbench::external
