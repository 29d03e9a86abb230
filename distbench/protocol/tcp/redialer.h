#ifndef DISTBENCH_PROTOCOL_TCP_REDIALER_H_
#define DISTBENCH_PROTOCOL_TCP_REDIALER_H_

#include <algorithm>
#include <cstdint>

#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/poller.h"
#include "distbench/protocol/tcp/stream_connection.h"

namespace distbench {

// Makes a broken connection anew, never in a storm: the first attempt comes a
// millisecond after the failure. The delay doubles for each further attempt, up
// to kMaxBackoffNs. Without requests there are no attempts. Times are
// monotonic.
class Redialer {
 public:
  static constexpr int64_t kMinBackoffNs = 1'000'000;
  static constexpr int64_t kMaxBackoffNs = 256'000'000;

  // An attempt may take timeout_ns. The context must outlive this.
  Redialer(StreamContext& context, int64_t timeout_ns)
      : context_(context), timeout_ns_(timeout_ns), dial_(context.security) {}

  // The attempt in progress, or the last one, whose result the owner takes.
  Dial& dial() { return dial_; }

  // Call this when the connection has broken or an attempt has failed.
  void OnDown(int64_t now_ns) {
    due_ns_ = now_ns + backoff_ns_;
    backoff_ns_ = std::min(2 * backoff_ns_, kMaxBackoffNs);
  }

  // Call this when the server has shown that it works.
  void OnReply() { backoff_ns_ = kMinBackoffNs; }

  // Asks for an attempt, as soon as it may be made.
  void Request() { is_requested_ = true; }

  // Returns whether an attempt is in progress or will be.
  bool is_pending() const { return is_requested_ || dial_.in_progress(); }

  // When an attempt should begin, or the one in progress end or, at a busy
  // server, be repeated; INT64_MAX if there is none.
  int64_t next_due_ns() const { return is_pending() ? due_ns_ : INT64_MAX; }

  // Call this at that time. Begins the attempt, during which the poller tells
  // the watcher when to call Continue(), or fails the one in progress. Returns
  // whether the attempt is over.
  bool Work(int64_t now_ns, const SocketAddress& address,
            Poller::Watcher& watcher) {
    if (is_requested_) {
      is_requested_ = false;
      end_ns_ = now_ns + timeout_ns_;
      ++context_.counters.reconnects;
    } else if (!is_busy() || now_ns >= end_ns_) {
      dial_.TimeOut();
      return true;
    }
    dial_.Begin(address);
    due_ns_ = is_busy() ? std::min(end_ns_, now_ns + Dial::kRetryNs) : end_ns_;
    if (!dial_.in_progress()) return true;
    if (!is_busy()) {
      context_.poller.Watch(dial_.fd(), dial_.events(), watcher);
    }
    return false;
  }

  // Returns whether the attempt is over.
  bool Continue(Poller::Watcher& watcher) {
    const uint32_t events_before = dial_.events();
    dial_.Continue();
    if (!dial_.in_progress()) return true;
    if (dial_.events() != events_before) {
      context_.poller.Rewatch(dial_.fd(), dial_.events(), watcher);
    }
    return false;
  }

 private:
  bool is_busy() const { return dial_.state() == Dial::State::kBusy; }

  StreamContext& context_;
  const int64_t timeout_ns_;
  Dial dial_;
  bool is_requested_ = false;
  int64_t due_ns_ = 0;  // of Work()
  int64_t end_ns_ = 0;  // of the attempt
  int64_t backoff_ns_ = kMinBackoffNs;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_REDIALER_H_
