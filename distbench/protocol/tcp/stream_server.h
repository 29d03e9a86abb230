// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The server side of one worker of a driver over TCP connections.

#ifndef DISTBENCH_PROTOCOL_TCP_STREAM_SERVER_H_
#define DISTBENCH_PROTOCOL_TCP_STREAM_SERVER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "distbench/base/clock.h"
#include "distbench/base/object_pool.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/agenda.h"
#include "distbench/protocol/tcp/greeting.h"
#include "distbench/protocol/tcp/poller.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/strangers.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/security/tls_session.h"

namespace distbench::protocol {

// What the connections that servers have accepted have in common, whatever
// their protocol: their requests, and when they begin and end.

// A request from its arrival to its reply.
template <typename Connection>
struct AcceptedRequest : ServerCall {
  Connection* connection = nullptr;
  std::string trace_bytes;  // the memory of trace_context, if it is here
};

// What is told to the owner of the connections that a server has accepted.
template <typename Connection>
class ServerListener {
 public:
  // The connection's next_due_ns() may have changed.
  virtual void OnDueChanged(Connection& connection) = 0;
  // The client has shown that it knows the test, and is no stranger any more.
  virtual void OnProven(Connection& connection) = 0;
  // A stranger's request was read at this time.
  virtual void OnStrangerHeard(Connection& connection, int64_t read_ns) = 0;
  // The connection has closed. Some of its requests may have no reply yet.
  virtual void OnClosed(Connection& connection) = 0;

 protected:
  ~ServerListener() = default;
};

// What a connection begins with. Pool and listener must outlive it.
template <typename Connection, typename Request>
struct AcceptedSocket {
  base::FileDescriptor socket;
  // The client should have said hello by this time, in the way of its protocol,
  // or the connection breaks.
  int64_t hello_due_ns;
  base::ObjectPool<Request>& requests;
  ServerListener<Connection>& listener;
};

// `Self` is the class that inherits this, `Base` the connection of its
// protocol, a StreamConnection with a context() and OnLost(). Used by its
// worker's thread.
template <typename Self, typename RequestType, typename Base>
class AcceptedConnection : public Base, public AgendaItem, public StrangerItem {
 public:
  using Request = RequestType;
  using Socket = AcceptedSocket<Self, Request>;

  // The monotonic time at which Work() has something to do, or kNoDeadline.
  int64_t next_due_ns() const {
    return awaits_hello_ ? hello_due_ns_ : kNoDeadline;
  }

  // Breaks the connection if the hello is late.
  void Work(int64_t now_ns) {
    if (now_ns >= next_due_ns()) this->BreakNow(StreamError::kHelloTimeout);
  }

  // Writes as much of what is queued as the socket accepts, then closes.
  void Finish() {
    if (!this->is_open()) return;
    this->Flush();
    if (!this->is_open()) return;
    this->Close();
    OnLost("");
  }

  // Sends a request's reply if the connection is still open, and returns the
  // request to the pool. Self has SendReply(request), or replaces this.
  ABSL_ATTRIBUTE_ALWAYS_INLINE void Reply(Request& request) {
    --pending_requests_;
    if (this->is_open()) {
      self().SendReply(request);
      ThrottleReading();
    } else if (pending_requests_ == 0) {
      NoteClosed();
    }
    requests_.Put(&request);
  }

  // The number of requests without a reply.
  size_t pending_requests() const { return pending_requests_; }
  bool is_closed() const { return !this->is_open(); }

 protected:
  // The context and `arguments` are Base's. Begins with the TLS handshake, if
  // TLS is used.
  template <typename Context, typename... Arguments>
  AcceptedConnection(Socket accepted, Context& context, Arguments... arguments)
      : Base(context, arguments...),
        reports_times_(context.settings.measures_time_parts),
        requests_(accepted.requests),
        hello_due_ns_(accepted.hello_due_ns),
        listener_(accepted.listener) {
    Stream stream(std::move(accepted.socket));
    stream.Secure(context.security, security::TlsContext::Side::kServer);
    this->Open(std::move(stream), /*watched=*/false);
  }
  ~AcceptedConnection() = default;

  // StreamConnection and Base.
  bool IsInUse() const final { return pending_requests_ > 0; }
  void OnLost(const std::string& /*reason*/) override {
    EndHello();
    NoteClosed();
  }

  // Continues the TLS handshake. Returns whether it is over.
  bool Secure() {
    if (is_secured_) return true;
    const security::TlsSession::State state = this->stream().Handshake();
    if (state == security::TlsSession::State::kFailed) {
      this->BreakWithStreamError(StreamError::kTlsFailed);
    }
    // A new connection has enough room for the output of a handshake.
    is_secured_ = state == security::TlsSession::State::kReady;
    return is_secured_;
  }

  // Continues tcp's greeting, which is reset when it is over. Returns whether
  // it is.
  bool Greet(std::optional<Greeting>& greeting) {
    if (!greeting.has_value()) return true;
    const StreamError error = GreetClient(*greeting, this->stream());
    if (error != StreamError::kNone) this->Break(error);
    if (this->is_breaking() || greeting->missing_bytes() > 0) return false;
    greeting.reset();
    NoteProven();
    return true;
  }

  // Writes and reads as the events of the poller say: read() reads once.
  template <typename Read>
  void Exchange(uint32_t epoll_events, const Read& read) {
    if (epoll_events & EPOLLOUT) this->OnWritable();
    const bool hung_up = epoll_events & (EPOLLERR | EPOLLHUP);
    if (hung_up || ((epoll_events & EPOLLIN) && this->reads())) read();
    ThrottleReading();
  }

  // The client has shown that it knows the test's nonce.
  void NoteProven() {
    EndHello();
    if (!std::exchange(is_proven_, true)) listener_.OnProven(self());
  }

  // For protocols that serve strangers: a request has arrived, of which the
  // first is the client's hello.
  void NoteRequest(int64_t read_ns) {
    if (!is_proven_) [[unlikely]] {
      EndHello();
      listener_.OnStrangerHeard(self(), read_ns);
    }
  }

  // next_due_ns() may have changed.
  void NoteDue() { listener_.OnDueChanged(self()); }

  void NoteClosed() { listener_.OnClosed(self()); }

  // Makes the request what the engine is about to get: that of a message of
  // this size. Its trace context stays where it is.
  ABSL_ATTRIBUTE_ALWAYS_INLINE void FillRequest(
      const payload::RequestHeader& header, int64_t message_bytes,
      int64_t read_ns, Request& request) {
    static_cast<ServerCall&>(request) = {.request_bytes = message_bytes,
                                         .received_ns = read_ns};
    TakeHeader(header, request);
    request.connection = &self();
    ++pending_requests_;
  }

  // As FillRequest(), with a request of the pool. Copies the trace context,
  // whose bytes are gone at the next read.
  ABSL_ATTRIBUTE_ALWAYS_INLINE Request& NewRequest(
      const payload::RequestHeader& header, int64_t message_bytes,
      int64_t read_ns) {
    Request& request = *requests_.Get();
    FillRequest(header, message_bytes, read_ns, request);
    KeepTrace(request.trace_bytes, request);
    return request;
  }

  // The header of a reply that is given now.
  payload::ResponseHeader ReplyHeader(const Request& request,
                                      size_t max_error_bytes) const {
    payload::ResponseHeader header = HeaderOf(request, max_error_bytes);
    if (reports_times_) {
      header.queue_ns = request.begun_ns - request.received_ns;
      header.handler_ns = base::RealClock().MonotonicNs() - request.begun_ns;
    }
    return header;
  }

  // Accepts no more requests from a client that does not read its replies, so
  // that the socket is full: its room then brings Exchange(), which ends this.
  // Replies that only wait for the next Flush() would bring nothing.
  void ThrottleReading() {
    const int64_t limit = this->context().settings.send_queue_bytes;
    const bool is_too_much =
        this->waits_for_room() &&
        this->queued_bytes() > (this->reads() ? limit : limit / 2);
    if (is_too_much != this->reads()) return;
    this->set_reads(!is_too_much);
    this->UpdateInterest();
  }

  const bool reports_times_;
  base::ObjectPool<Request>& requests_;
  size_t pending_requests_ = 0;

 private:
  Self& self() { return static_cast<Self&>(*this); }

  // The client has said hello, or no longer will. Only the first call counts.
  void EndHello() {
    if (std::exchange(awaits_hello_, false)) NoteDue();
  }

  const int64_t hello_due_ns_;
  ServerListener<Self>& listener_;
  bool is_secured_ = false;
  bool awaits_hello_ = true;
  bool is_proven_ = false;
};

// Accepts the connections of a listening socket. Used by one worker's thread.
class Acceptor final : public Poller::Watcher {
 public:
  using OnAccepted = std::function<void(base::FileDescriptor socket)>;

  // The poller and the counters must outlive this. Accepts from Open() on.
  Acceptor(base::FileDescriptor listener, OnAccepted on_accepted,
           Poller& poller, StreamCounters& counters);

  // The error names the remedy.
  absl::Status Open();

  // The monotonic time at which Work() has something to do, or kNoDeadline.
  int64_t next_due_ns() const { return resume_ns_; }

  // Resumes after a pause.
  void Work(int64_t now_ns);

  // Accepts no more connections.
  void Close();

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events, TransportEvents& events) override;

 private:
  void Pause();

  base::FileDescriptor listener_;
  const OnAccepted on_accepted_;
  Poller& poller_;
  StreamCounters& counters_;
  int64_t resume_ns_;
};

// Serves connections such as ServerConnection (server_connection.h). Clients
// that have not shown that they know the test are limited (StrangerLimits).
// Used by its worker's thread.
template <typename Connection>
class StreamServer final : private ServerListener<Connection> {
 public:
  using Context = typename Connection::Context;

  explicit StreamServer(Context& context)
      : context_(context), strangers_(context.settings.strangers) {}

  StreamServer(const StreamServer&) = delete;
  StreamServer& operator=(const StreamServer&) = delete;

  // Serves an accepted connection.
  void Serve(base::FileDescriptor socket);

  // As Transport::Reply().
  void Reply(ServerCall* call);

  // As Transport::BreakConnections().
  int64_t BreakConnections();

  // The monotonic time at which Work() has something to do, or INT64_MAX.
  int64_t next_due_ns() const {
    return std::min(agenda_.next_due_ns(), strangers_.next_due_ns());
  }

  // Closes connections whose hello is late, and those of silent strangers.
  void Work(int64_t now_ns);

  // Destroys closed connections. Must not be called while the poller runs or
  // while connections are flushed.
  void DestroyClosed() {
    if (!closed_.empty()) DestroyClosedNow();
  }

  // Closes all connections, including those that arrive later.
  void Close();

 private:
  using Request = typename Connection::Request;

  void DestroyClosedNow();
  void GiveUpSilentStrangers(int64_t now_ns);
  void GiveUp(Connection& stranger);

  // ServerListener.
  void OnDueChanged(Connection& connection) override {
    agenda_.Set(connection, connection.next_due_ns());
  }
  void OnProven(Connection& connection) override {
    strangers_.Remove(connection);
  }
  void OnStrangerHeard(Connection& connection, int64_t read_ns) override {
    strangers_.NoteHeard(connection, read_ns);
  }
  void OnClosed(Connection& connection) override {
    strangers_.Remove(connection);
    closed_.push_back(&connection);
  }

  Context& context_;
  base::ObjectPool<Request> requests_;
  absl::flat_hash_set<std::unique_ptr<Connection>> connections_;
  Agenda<Connection> agenda_;
  Strangers<Connection> strangers_;
  // Perhaps twice, and perhaps with requests that have no reply yet.
  std::vector<Connection*> closed_;
  bool accepts_ = true;
};

template <typename Connection>
void StreamServer<Connection>::Serve(base::FileDescriptor socket) {
  if (!accepts_) return;
  if (strangers_.is_full()) GiveUp(*strangers_.Quietest());
  const int64_t now_ns = base::NowNs();
  const auto made = connections_.insert(std::make_unique<Connection>(
      context_,
      typename Connection::Socket{
          std::move(socket), now_ns + context_.settings.handshake_timeout_ns,
          requests_, *this}));
  Connection& connection = **made.first;
  strangers_.Add(connection, now_ns);
  OnDueChanged(connection);
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
void StreamServer<Connection>::Work(int64_t now_ns) {
  agenda_.Work(now_ns);
  GiveUpSilentStrangers(now_ns);
}

// Some at a time, as an agenda does. A request that is being served for long is
// no silence.
template <typename Connection>
void StreamServer<Connection>::GiveUpSilentStrangers(int64_t now_ns) {
  for (size_t i = 0;
       i < Agenda<Connection>::kMaxAtOnce && strangers_.next_due_ns() <= now_ns;
       ++i) {
    Connection& quietest = *strangers_.Quietest();
    if (quietest.pending_requests() > 0) {
      strangers_.NoteHeard(quietest, now_ns);
    } else {
      GiveUp(quietest);
    }
  }
}

// It closes at the next flush: messages may be being delivered now.
template <typename Connection>
void StreamServer<Connection>::GiveUp(Connection& stranger) {
  strangers_.Remove(stranger);
  stranger.Break(StreamError::kStranger);
}

template <typename Connection>
void StreamServer<Connection>::DestroyClosedNow() {
  for (Connection* connection : std::exchange(closed_, {})) {
    const auto found = connections_.find(connection);
    if (found == connections_.end() || connection->pending_requests() > 0) {
      continue;
    }
    connections_.erase(found);
  }
}

template <typename Connection>
void StreamServer<Connection>::Close() {
  accepts_ = false;
  for (const auto& connection : connections_) connection->Finish();
}

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_STREAM_SERVER_H_
