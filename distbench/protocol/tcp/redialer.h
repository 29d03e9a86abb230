#ifndef DISTBENCH_PROTOCOL_TCP_REDIALER_H_
#define DISTBENCH_PROTOCOL_TCP_REDIALER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/poller.h"
#include "distbench/protocol/tcp/stream_connection.h"

namespace distbench::protocol {

// Makes a client's connection to one server anew, for all protocols over
// streams:
//
//   the connection breaks    ▸ OnDown()
//   a call needs it          ▸ Request(), and Work() when next_due_ns() says so
//   the attempt goes on      ▸ Continue(), when the poller tells the watcher
//   the attempt is over      ▸ Owner::OnConnected() or OnNotConnected()
//
// Never in a storm: the first attempt comes a millisecond after the failure.
// The delay doubles for each further attempt, up to kMaxBackoffNs. Without
// requests there are no attempts. Times are monotonic.
class Redialer {
 public:
  static constexpr int64_t kMinBackoffNs = 1'000'000;
  static constexpr int64_t kMaxBackoffNs = 256'000'000;

  class Owner {
   public:
    // The poller watches the stream's socket for the watcher.
    virtual void OnConnected(Stream stream) = 0;
    // `error` is for the calls that have waited for it. The owner calls
    // OnDown().
    virtual void OnNotConnected(const std::string& error) = 0;

   protected:
    ~Owner() = default;
  };

  // An attempt may take timeout_ns. If the target has no stream, the first
  // connection is made like later ones, without a delay. The context, the
  // watcher and the owner must outlive this.
  Redialer(StreamContext& context, const DialTarget& target, int64_t timeout_ns,
           Poller::Watcher& watcher, Owner& owner);

  // The server's name in errors.
  const std::string& name() const { return name_; }

  // The error of calls in flight on a connection that was lost.
  std::string LossError(absl::string_view reason) const;

  // Call this when the connection has broken or an attempt has failed.
  void OnDown(int64_t now_ns);

  // Call this when the server has shown that it works.
  void OnReply() { backoff_ns_ = kMinBackoffNs; }

  // Asks for an attempt, as soon as it may be made.
  void Request() { is_requested_ = true; }

  // Whether an attempt is in progress.
  bool is_dialing() const { return dial_.in_progress(); }
  // Whether one is, or will be.
  bool is_pending() const { return is_requested_ || is_dialing(); }

  // When Work() has something to do: begin an attempt, end the one in progress
  // or, at a busy server, repeat it. INT64_MAX if there is none.
  int64_t next_due_ns() const { return is_pending() ? due_ns_ : INT64_MAX; }
  void Work(int64_t now_ns);

  // Requires is_dialing().
  void Continue();

 private:
  bool is_busy() const { return dial_.state() == Dial::State::kBusy; }
  void Begin(int64_t now_ns);
  void Finish();

  StreamContext& context_;
  const std::string name_;
  const SocketAddress address_;
  const int64_t timeout_ns_;
  Poller::Watcher& watcher_;
  Owner& owner_;
  Dial dial_;
  bool was_connected_;
  bool is_requested_ = false;
  int64_t due_ns_ = 0;  // of Work()
  int64_t end_ns_ = 0;  // of the attempt
  int64_t backoff_ns_ = kMinBackoffNs;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_REDIALER_H_
