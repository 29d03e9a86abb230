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
#include "distbench/protocol/tcp/client_greeting.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/stream.h"

namespace distbench::protocol {

// One attempt to make a connection: connects a socket with the client's network
// settings, performs the TLS handshake if TLS is wanted, and greets the peer,
// which must know the test, unless `security` says otherwise. Never waits: the
// caller waits until fd() is ready for events().
class Dial {
 public:
  // kBusy: the peer's queue of new connections is full, which a Unix socket
  // says at once (TCP tries again by itself). There is no fd(); call Begin()
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

  // `security` must outlive this.
  explicit Dial(const ConnectionSecurity& security) : security_(security) {}

  // Begins an attempt, in place of any earlier one.
  State Begin(const SocketAddress& address);

  // Continues when fd() is ready.
  State Continue();

  // Gives up an attempt in progress because time is up.
  void TimeOut();

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
  void Fail(absl::string_view reason);

  const ConnectionSecurity& security_;
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

// Makes all connections, a bounded number at a time. Calls `on_connected` for
// each at once, because others may take longer than a server waits for the
// first bytes. The error names the targets that could not be reached, and why.
// Returns CANCELLED soon after `aborted` is set.
absl::Status DialAll(
    absl::Span<DialTarget> targets, const ConnectionSecurity& security,
    absl::Time deadline, const std::atomic<bool>& aborted,
    absl::FunctionRef<void(DialTarget&)> on_connected = [](DialTarget&) {});

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_DIAL_H_
