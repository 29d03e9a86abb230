#ifndef DISTBENCH_PROTOCOL_TCP_DIAL_H_
#define DISTBENCH_PROTOCOL_TCP_DIAL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/socket.h"

namespace distbench {

// One attempt to make a connection: connects, says hello and hears the peer's.
// Never waits: whoever runs it waits for fd() to be ready for events().
class Dial {
 public:
  enum class State { kConnecting, kAwaitingHello, kConnected, kFailed };

  // Begins, instead of what was going on before.
  State Begin(const SocketAddress& address);

  // Goes on, when fd() is ready.
  State Continue();

  // Gives up.
  void Fail(std::string reason);

  State state() const { return state_; }
  bool in_progress() const {
    return state_ == State::kConnecting || state_ == State::kAwaitingHello;
  }

  // While in progress. events(): as in epoll_event.
  int fd() const { return socket_.get(); }
  uint32_t events() const;

  // Once connected. What the peer sent after its hello is still to be read.
  FileDescriptor TakeSocket() { return std::move(socket_); }

  // Once failed: why.
  const std::string& error() const { return error_; }

 private:
  State FinishConnecting();
  State ReadHello();
  State FailWith(absl::string_view what);

  State state_ = State::kFailed;
  FileDescriptor socket_;
  char hello_[kHelloBytes];
  size_t hello_bytes_ = 0;  // received so far
  std::string error_;
};

// A connection that is wanted, and then made.
struct DialTarget {
  // What it is called in errors.
  std::string name;

  // To be tried in this order; at least one.
  std::vector<SocketAddress> addresses;

  // The result.
  FileDescriptor socket;
  SocketAddress address;  // the one that answered
};

// Makes all connections, a bounded number of them at a time. The error names
// targets that could not be reached, and why. Gives up soon once `aborted` is
// set: CANCELLED.
absl::Status DialAll(absl::Span<DialTarget> targets, absl::Time deadline,
                     const std::atomic<bool>& aborted);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_DIAL_H_
