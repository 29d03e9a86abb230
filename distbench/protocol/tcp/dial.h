// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_TCP_DIAL_H_
#define DISTBENCH_PROTOCOL_TCP_DIAL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/poller.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_connection.h"
#include "distbench/protocol/tcp/turn_work.h"

namespace distbench::protocol {

// What is told to the owner of a client's connections, which reconnect when
// they break.
template <typename Connection>
class ClientListener {
 public:
  // All calls in flight on the connection have failed.
  virtual void OnDown(Connection& connection, const std::string& error) = 0;
  // A call that has been removed from the table has failed.
  virtual void OnFailed(ClientCall& call, std::string error) = 0;
  // The connection takes no more calls. Those in flight on it go on.
  virtual void OnRetired(Connection& connection) = 0;
  // A call in flight goes over another connection: the server will not answer
  // it here. Only after OnRetired().
  virtual void OnRefused(ClientCall& call) = 0;
  // The connection's next_due_ns() may have changed.
  virtual void OnDueChanged(Connection& connection) = 0;

 protected:
  ~ClientListener() = default;
};

// One attempt to make a connection: connects a socket with the client's network
// settings, performs the TLS handshake if TLS is wanted, and greets the peer,
// which must know the test, unless `security` says otherwise. Never waits: the
// caller waits until fd() is ready for events().
class Dial {
 public:
  // kBusy: the peer's queue of new connections is full, which a Unix socket
  // says at once (TCP tries again by itself). There is no fd(); call Connect()
  // again after kRetryNs.
  enum class State {
    kBusy,
    kConnecting,
    kSecuring,
    kGreeting,
    kConnected,
    kFailed
  };

  static constexpr int64_t kRetryNs = 1'000'000;

  // `security` must outlive this, as must `work`, where a worker's streams note
  // what they do; null: it is not a worker that dials.
  explicit Dial(const ConnectionSecurity& security, TurnWork* work = nullptr)
      : security_(security), work_(work) {}

  // Begins an attempt, in place of any earlier one.
  State Connect(const SocketAddress& address);

  // Continues when fd() is ready.
  State Continue();

  // Gives up an attempt in progress because time is up, or because of an error.
  void TimeOut();
  void Fail(absl::string_view reason);

  State state() const { return state_; }
  bool in_progress() const {
    return state_ != State::kConnected && state_ != State::kFailed;
  }

  // Valid while in progress and not busy. events() is as in epoll_event.
  int fd() const { return stream_.fd(); }
  uint32_t events() const;

  // Valid once connected. Bytes that follow the peer's hello are still unread.
  Stream TakeStream() { return std::move(stream_); }

  // The reason, once failed.
  const std::string& error() const { return error_; }

 private:
  void FinishConnecting();
  void Secure();
  void Greet();
  bool ReceiveGreeting();
  void Admit();
  bool SendOutput();

  const ConnectionSecurity& security_;
  TurnWork* const work_;
  State state_ = State::kFailed;
  Stream stream_;
  std::unique_ptr<ClientGreeting> greeting_;
  bool wants_write_ = false;  // while securing
  std::string error_;
};

// What a protocol keeps of a connection that it has begun to use.
class BegunSession {
 public:
  virtual ~BegunSession() = default;
};

// A connection to make, and the result.
struct DialTarget {
  // The target's name in errors.
  std::string name;

  // Addresses to try in this order; at least one.
  std::vector<SocketAddress> addresses;

  // The result.
  Stream stream = {};
  SocketAddress address = {};  // the one that answered

  // Null unless the protocol verifies its peers after dialing. May refer to
  // this target until then.
  std::unique_ptr<BegunSession> session = {};
};

// Makes all connections, a bounded number at a time: a target that takes long
// holds up others only if there are as many like it. Calls `on_connected` for
// each at once, because others may take longer than a server waits for the
// first bytes. The error names the targets that could not be reached, and why,
// and how many were not even tried. Returns CANCELLED soon after `aborted` is
// set.
absl::Status DialAll(
    absl::Span<DialTarget> targets, const ConnectionSecurity& security,
    absl::Time deadline, const std::atomic<bool>& aborted,
    absl::FunctionRef<void(DialTarget&)> on_connected = [](DialTarget&) {});

// Makes a client's connection to one server anew, for all protocols over
// streams:
//
//   the connection breaks    ▸ OnDown()
//   a call needs it          ▸ Request(), and Work() when next_due_ns() says so
//   the attempt goes on      ▸ Continue(), when the poller tells the watcher
//   the attempt is over      ▸ Owner::OnConnected() or OnNotConnected()
//
// Never in a storm (RetryDelay). Without requests there are no attempts. Times
// are monotonic.
class Redialer {
 public:
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

  // Call this when the connection has broken or an attempt has failed.
  void OnDown(int64_t now_ns);

  // Call this when the server has shown that it works.
  void OnReply() { delay_.Reset(); }

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
  void Connect(int64_t now_ns);
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
  RetryDelay delay_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_DIAL_H_
