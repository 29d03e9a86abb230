// The server side of one worker of a driver over TCP connections.

#ifndef DISTBENCH_PROTOCOL_TCP_STREAM_SERVER_H_
#define DISTBENCH_PROTOCOL_TCP_STREAM_SERVER_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/base/object_pool.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/accepted_connection.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench::protocol {

// Serves connections such as ServerConnection (server_connection.h). Used by
// its worker's thread.
template <typename Connection>
class StreamServer final : private ServerListener<Connection> {
 public:
  using Context = typename Connection::Context;

  explicit StreamServer(Context& context) : context_(context) {}

  StreamServer(const StreamServer&) = delete;
  StreamServer& operator=(const StreamServer&) = delete;

  // Serves an accepted connection.
  void Serve(base::FileDescriptor socket);

  // As Transport::Reply().
  void Reply(ServerCall* call);

  // As Transport::BreakConnections().
  int64_t BreakConnections();

  // The monotonic time at which Work() has something to do, or INT64_MAX.
  int64_t next_due_ns() const;

  // Closes connections whose hello is late.
  void Work(int64_t now_ns);

  // Destroys closed connections. Must not be called while the poller runs or
  // while any connection is waiting to be flushed.
  void Bury();

  // Closes all connections, including those that arrive later.
  void Close();

 private:
  using Request = typename Connection::Request;

  // ServerListener.
  void OnHelloOver(Connection& connection) override;
  void OnClosed(Connection& connection) override;

  Context& context_;
  base::ObjectPool<Request> requests_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> awaiting_hello_;  // the earliest due first
  bool some_are_closed_ = false;
  bool closed_ = false;
};

template <typename Connection>
void StreamServer<Connection>::Serve(base::FileDescriptor socket) {
  if (closed_) return;
  const int64_t due_ns =
      base::RealClock().MonotonicNs() + context_.settings.handshake_timeout_ns;
  connections_.push_back(std::make_unique<Connection>(
      context_, typename Connection::Socket{std::move(socket), due_ns,
                                            requests_, *this}));
  awaiting_hello_.push_back(connections_.back().get());
}

template <typename Connection>
void StreamServer<Connection>::Reply(ServerCall* call) {
  auto* request = static_cast<Request*>(call);
  request->connection->Reply(*request);
}

template <typename Connection>
int64_t StreamServer<Connection>::BreakConnections() {
  int64_t count = 0;
  for (const auto& connection : connections_) {
    if (connection->is_closed() || connection->is_breaking()) continue;
    connection->Break(StreamError::kOnPurpose);
    ++count;
  }
  return count;
}

template <typename Connection>
int64_t StreamServer<Connection>::next_due_ns() const {
  return awaiting_hello_.empty() ? INT64_MAX
                                 : awaiting_hello_.front()->hello_due_ns();
}

template <typename Connection>
void StreamServer<Connection>::Work(int64_t now_ns) {
  // This removes the connection from the list.
  while (next_due_ns() <= now_ns) {
    awaiting_hello_.front()->BreakNow(StreamError::kHelloTimeout);
  }
}

template <typename Connection>
void StreamServer<Connection>::Bury() {
  if (!some_are_closed_) return;
  some_are_closed_ = false;
  const auto is_dead = [](const auto& connection) {
    return connection->is_closed() && connection->pending_requests() == 0;
  };
  connections_.erase(
      std::remove_if(connections_.begin(), connections_.end(), is_dead),
      connections_.end());
}

template <typename Connection>
void StreamServer<Connection>::Close() {
  closed_ = true;
  for (const auto& connection : connections_) connection->Finish();
}

template <typename Connection>
void StreamServer<Connection>::OnHelloOver(Connection& connection) {
  awaiting_hello_.erase(
      std::find(awaiting_hello_.begin(), awaiting_hello_.end(), &connection));
}

template <typename Connection>
void StreamServer<Connection>::OnClosed(Connection&) {
  some_are_closed_ = true;
}

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_STREAM_SERVER_H_
