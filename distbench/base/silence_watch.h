// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_SILENCE_WATCH_H_
#define DISTBENCH_BASE_SILENCE_WATCH_H_

#include <functional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/wakeup.h"

namespace distbench::base {

// Notices when the peer falls silent. Counts beats of its own thread rather
// than reading a clock, so that a process that was stopped for a while does not
// blame its peer. Thread-safe.
class SilenceWatch {
 public:
  // Beats per timeout; the peer counts as silent after the last but one.
  static constexpr int kBeats = 10;

  // Calls on_silence once, at the latest `timeout` after the last Hear(), on
  // the watch's thread, so it must not destroy the watch.
  SilenceWatch(absl::Duration timeout, std::function<void()> on_silence)
      : timeout_(timeout), on_silence_(std::move(on_silence)) {
    thread_ = std::thread([this] { Run(); });
  }

  ~SilenceWatch() {
    {
      absl::MutexLock lock(&mutex_);
      is_over_ = true;
    }
    wakeup_.Wake();
    thread_.join();
  }

  SilenceWatch(const SilenceWatch&) = delete;
  SilenceWatch& operator=(const SilenceWatch&) = delete;

  // Call this whenever the peer has sent something.
  void Hear() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    silent_beats_ = 0;
  }

  // Sets the timeout from now on; absl::InfiniteDuration() ignores silence.
  void SetTimeout(absl::Duration timeout) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    timeout_ = timeout;
    silent_beats_ = 0;
    wakeup_.Wake();
  }

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_) {
    if (AwaitSilence()) on_silence_();
  }

  // Returns true on silence, false when the watch ends.
  bool AwaitSilence() ABSL_LOCKS_EXCLUDED(mutex_) {
    for (;;) {
      const bool was_woken = wakeup_.Sleep(ToTimeoutNs(Beat()));
      absl::MutexLock lock(&mutex_);
      if (is_over_) return false;
      if (!was_woken && ++silent_beats_ == kBeats - 1) return true;
    }
  }

  absl::Duration Beat() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return timeout_ / kBeats;
  }

  // By the monotonic clock: a step of the host's clock is no silence.
  Wakeup wakeup_;
  mutable absl::Mutex mutex_;
  absl::Duration timeout_ ABSL_GUARDED_BY(mutex_);
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  int silent_beats_ ABSL_GUARDED_BY(mutex_) = 0;
  const std::function<void()> on_silence_;
  std::thread thread_;
};

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_SILENCE_WATCH_H_
