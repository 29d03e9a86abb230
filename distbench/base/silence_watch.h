#ifndef DISTBENCH_BASE_SILENCE_WATCH_H_
#define DISTBENCH_BASE_SILENCE_WATCH_H_

#include <functional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace distbench {

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
    is_changed_ = true;
    silent_beats_ = 0;
  }

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_) {
    if (AwaitSilence()) on_silence_();
  }

  // Returns true on silence, false when the watch ends.
  bool AwaitSilence() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    while (silent_beats_ < kBeats - 1) {
      is_changed_ = false;
      mutex_.AwaitWithTimeout(absl::Condition(this, &SilenceWatch::MustLook),
                              timeout_ / kBeats);
      if (is_over_) return false;
      if (!is_changed_) ++silent_beats_;
    }
    return true;
  }

  bool MustLook() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return is_over_ || is_changed_;
  }

  absl::Mutex mutex_;
  absl::Duration timeout_ ABSL_GUARDED_BY(mutex_);
  bool is_changed_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  int silent_beats_ ABSL_GUARDED_BY(mutex_) = 0;
  const std::function<void()> on_silence_;
  std::thread thread_;
};

}  // namespace distbench

#endif  // DISTBENCH_BASE_SILENCE_WATCH_H_
