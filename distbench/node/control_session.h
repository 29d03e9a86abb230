// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A node's session with its sequencer: executes commands until the stream ends.

#ifndef DISTBENCH_NODE_CONTROL_SESSION_H_
#define DISTBENCH_NODE_CONTROL_SESSION_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/queues.h"
#include "distbench/base/silence_watch.h"
#include "distbench/node/control_stream.h"
#include "distbench/node/test_part.h"
#include "proto/control.pb.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace distbench::node {

// Limits how much may be in flight to a receiver that acknowledges what it
// takes. Thread-safe.
class CreditWindow {
 public:
  // Sets how much may be in flight.
  void Open(int64_t size) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    size_ = size;
  }

  // Waits until there is room for `amount`, or until nothing is in flight if
  // `amount` exceeds the window. Returns false if the window was closed.
  bool Acquire(int64_t amount) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto may_go = [this, amount]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return is_closed_ || used_ == 0 || used_ + amount <= size_;
    };
    mutex_.Await(absl::Condition(&may_go));
    used_ += amount;
    return !is_closed_;
  }

  // The receiver has taken `amount`.
  void Release(int64_t amount) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    used_ -= amount;
  }

  // Lets nothing more pass, and ends all waits.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    is_closed_ = true;
  }

 private:
  absl::Mutex mutex_;
  int64_t size_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t used_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
};

// When a node reports its progress.

// Not thread-safe.
class ProgressTimes {
 public:
  static constexpr absl::Duration kShortest = absl::Seconds(1);
  static constexpr absl::Duration kLongest = absl::Minutes(1);

  // Reports are due at steady intervals from now on: limited to kShortest and
  // kLongest, and kShortest if `interval` is not positive. The first comes
  // after `phase` (from 0 to 1) of what the interval is longer than kShortest:
  // nodes that report rarely because there are many do not report together.
  void Start(absl::Duration interval, double phase, int64_t now_ns) {
    interval = std::clamp(interval, kShortest, kLongest);
    interval_ns_ = absl::ToInt64Nanoseconds(interval);
    next_ns_ =
        now_ns + absl::ToInt64Nanoseconds((interval - kShortest) * phase);
  }

  // Whether a report is due, which it is then not for almost an interval: a
  // report that is early by `tolerance` is better than one that is late.
  bool IsDue(int64_t now_ns, absl::Duration tolerance) {
    if (now_ns < next_ns_) return false;
    next_ns_ = now_ns + interval_ns_ - absl::ToInt64Nanoseconds(tolerance);
    return true;
  }

 private:
  int64_t interval_ns_ = absl::ToInt64Nanoseconds(kShortest);
  int64_t next_ns_ = 0;  // monotonic
};

// How a session ended.
struct SessionEnd {
  absl::Status status;

  // Whether the node was registered at some point.
  bool was_welcome = false;

  // Whether the sequencer told the node to shut down.
  bool is_shutdown = false;
};

// The thread that calls Run() executes the steps of a test in order. Commands
// that must not wait for them (stop, release, pings) are executed at once by
// the stream's reader. The traffic stops when the stream ends. A sequencer that
// is silent for as long as its welcome said is declared lost.
class ControlSession final : private ControlStream {
 public:
  using WelcomeHandler = std::function<void(const NodeConfig& config)>;

  // Connects. `environment` must outlive the session. on_welcome is called on a
  // thread of gRPC when the sequencer has registered the node. welcome_timeout
  // limits the wait for the sequencer's first message; with
  // absl::InfiniteDuration() the sequencer may be silent forever, now and
  // later.
  ControlSession(std::shared_ptr<grpc::Channel> channel,
                 NodeRegistration registration,
                 const NodeEnvironment& environment,
                 absl::Duration welcome_timeout, WelcomeHandler on_welcome);

  ControlSession(const ControlSession&) = delete;
  ControlSession& operator=(const ControlSession&) = delete;

  // Returns when the session has ended. Call it exactly once, before the
  // session is destroyed.
  SessionEnd Run();

  // Makes Run() return soon. May be called on any thread.
  using ControlStream::Cancel;

  // Makes Run() return when the current test is over: its traffic ends, and its
  // measurements can be collected. May be called on any thread.
  void Leave(const std::string& reason) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // A test between its preparation and its release.
  struct ActiveTest {
    ActiveTest(int64_t id, PrepareTest request,
               const NodeEnvironment& environment,
               TestPart::FinishedHandler on_finished)
        : id(id),
          hosted(std::move(request), environment, std::move(on_finished)) {}

    // Ends the current step, and prevents the remaining ones.
    void Abort(const std::string& reason) {
      hosted.Stop(reason);
      window.Close();
    }

    const int64_t id;
    TestPart hosted;
    CreditWindow window;
  };
  using TestPointer = std::shared_ptr<ActiveTest>;

  // ControlStream:
  void OnCommand(NodeCommand command) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnEnd(const absl::Status& status) override ABSL_LOCKS_EXCLUDED(mutex_);

  // Called by OnCommand():
  void OnWelcome(const NodeConfig& config) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnTestCommand(NodeCommand command) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnPrepare(int64_t test_id, PrepareTest request)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void OnRelease(const TestPointer& test) ABSL_LOCKS_EXCLUDED(mutex_);

  // Called by the silence watch:
  void OnSilence() ABSL_LOCKS_EXCLUDED(mutex_);

  // The steps, executed by the thread of Run():
  void Start(const TestPointer& test, const StartTraffic& request);
  void Collect(const TestPointer& test, const CollectResults& request);
  void Release(const TestPointer& test) ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsActive() const;
  void Tick();
  void ReportProgress();

  // Sends a message with this part, which mutable_...() makes.
  template <typename Part>
  void SendPart(int64_t test_id, Part* (NodeMessage::*mutable_part)(),
                Part part);

  const NodeEnvironment& environment_;
  const WelcomeHandler on_welcome_;

  absl::Mutex mutex_;
  TestPointer current_ ABSL_GUARDED_BY(mutex_);  // until it is released
  SessionEnd end_ ABSL_GUARDED_BY(mutex_);
  bool is_leaving_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Duration silence_timeout_ ABSL_GUARDED_BY(mutex_);

  std::optional<base::SilenceWatch> watch_;

  // Used by the steps only:
  TestPointer executed_;  // the test that they work on
  int64_t next_sample_ns_ = 0;
  ProgressTimes progress_times_;
  bool progress_with_pongs_ = false;
  absl::BitGen random_;
  base::CommandQueue queue_;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_CONTROL_SESSION_H_
