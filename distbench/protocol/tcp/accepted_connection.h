// What the connections that servers have accepted have in common, whatever
// their protocol: their requests, and when they begin and end.

#ifndef DISTBENCH_PROTOCOL_TCP_ACCEPTED_CONNECTION_H_
#define DISTBENCH_PROTOCOL_TCP_ACCEPTED_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "distbench/base/clock.h"
#include "distbench/base/object_pool.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/security/tls_session.h"

namespace distbench::protocol {

// A request from its arrival to its reply.
template <typename Connection>
struct AcceptedRequest : ServerCall {
  Connection* connection = nullptr;
  int64_t begun_ns = 0;     // monotonic; only if time parts are measured
  std::string trace_bytes;  // the memory of trace_context, by KeepTrace()
};

// What is told to the owner of the connections that a server has accepted.
template <typename Connection>
class ServerListener {
 public:
  // The client has said hello, in the way of its protocol, or the connection
  // has closed before.
  virtual void OnHelloOver(Connection& connection) = 0;
  // The connection has closed. Some of its requests may have no reply yet.
  virtual void OnClosed(Connection& connection) = 0;

 protected:
  ~ServerListener() = default;
};

// What a connection begins with. Pool and listener must outlive it.
template <typename Connection, typename Request>
struct AcceptedSocket {
  base::FileDescriptor socket;
  int64_t hello_due_ns;  // see AcceptedConnection
  base::ObjectPool<Request>& requests;
  ServerListener<Connection>& listener;
};

// `Self` is the class that inherits this, `Base` the connection of its
// protocol, a StreamConnection with a context() and OnLost(). Used by its
// worker's thread.
template <typename Self, typename RequestType, typename Base>
class AcceptedConnection : public Base {
 public:
  using Request = RequestType;
  using Socket = AcceptedSocket<Self, Request>;

  // The client should have said hello by this time, or StreamServer breaks the
  // connection.
  int64_t hello_due_ns() const { return hello_due_ns_; }

  // Writes as much of what is queued as the socket accepts, then closes.
  void Finish() {
    if (!this->is_open()) return;
    this->Flush();
    if (!this->is_open()) return;
    this->Close();
    OnLost("");
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
    const security::TlsSession::State state = this->stream().Handshake();
    if (state == security::TlsSession::State::kFailed) {
      this->BreakWithStreamError(StreamError::kTlsFailed);
    }
    // A new connection has enough room for the output of a handshake.
    return state == security::TlsSession::State::kReady;
  }

  // The client has said hello, or no longer will. Only the first call counts.
  void EndHello() {
    if (std::exchange(awaits_hello_, false)) listener_.OnHelloOver(self());
  }

  void NoteClosed() { listener_.OnClosed(self()); }

  // Copies the header's trace context, whose bytes are gone at the next read.
  static void KeepTrace(const payload::RequestHeader& header,
                        Request& request) {
    if (header.trace_context.empty()) return;
    request.trace_bytes = std::string(header.trace_context);
    request.trace_context = request.trace_bytes;
  }

  // The engine is about to get the request.
  void NotePending(Request& request) {
    request.connection = &self();
    ++pending_requests_;
    if (reports_times_) request.begun_ns = base::RealClock().MonotonicNs();
  }

  // The header of a reply that is given now.
  payload::ResponseHeader ReplyHeader(const Request& request,
                                      size_t max_error_bytes) const {
    payload::ResponseHeader header = {
        .server_instance = request.reply_instance,
        .error_message = request.reply_error.substr(0, max_error_bytes)};
    if (reports_times_) {
      header.queue_ns = request.begun_ns - request.received_ns;
      header.handler_ns = base::RealClock().MonotonicNs() - request.begun_ns;
    }
    return header;
  }

  // Accepts no more requests from a client that does not read its replies.
  void ThrottleReading() {
    const int64_t limit = this->context().settings.send_queue_bytes;
    const int64_t queued = this->queued_bytes();
    if (this->reads() ? queued < limit : queued > limit / 2) return;
    this->set_reads(!this->reads());
    this->UpdateInterest();
  }

  const bool reports_times_;
  base::ObjectPool<Request>& requests_;
  size_t pending_requests_ = 0;

 private:
  Self& self() { return static_cast<Self&>(*this); }

  const int64_t hello_due_ns_;
  ServerListener<Self>& listener_;
  bool awaits_hello_ = true;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_ACCEPTED_CONNECTION_H_
