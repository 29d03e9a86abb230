#include "distbench/protocol/thrift/server_connection.h"

#include <utility>

#include "absl/status/statusor.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/handshake_messages.h"

namespace distbench {
namespace {

// A reply's other fields take less than the rest.
constexpr size_t kMaxErrorBytes = ThriftDecoder::kMaxKeptBytes - 512;

}  // namespace

ThriftServerConnection::ThriftServerConnection(ThriftContext& context,
                                               FileDescriptor socket,
                                               int64_t hello_due_ns,
                                               ObjectPool<Request>& requests,
                                               Listener& listener)
    : ThriftConnection(context),
      max_queued_bytes_(context.settings.send_queue_bytes),
      reports_times_(context.settings.measures_time_parts),
      hello_due_ns_(hello_due_ns),
      requests_(requests),
      listener_(listener) {
  Stream stream(std::move(socket));
  stream.Secure(context.security, TlsContext::Side::kServer);
  Open(std::move(stream), /*watched=*/false);
}

void ThriftServerConnection::OnReady(uint32_t epoll_events,
                                     TransportEvents& events) {
  if (!is_open()) return;
  if (!is_secured_) is_secured_ = Secure();
  if (is_secured_) {
    if (epoll_events & EPOLLOUT) OnWritable();
    const bool hung_up = epoll_events & (EPOLLERR | EPOLLHUP);
    if (hung_up || ((epoll_events & EPOLLIN) && reads())) {
      Read([&](const ThriftMessage& message, int64_t read_ns) {
        return OnMessage(message, read_ns, events);
      });
    }
    ThrottleReading();
  }
  SettleError();
}

// Returns whether TLS is ready, or is not used.
bool ThriftServerConnection::Secure() {
  switch (stream().Handshake()) {
    case TlsSession::State::kReady:
      return true;
    case TlsSession::State::kFailed:
      BreakWithStreamError(StreamError::kTlsFailed);
      return false;
    // A new connection has enough room for the output of a handshake.
    case TlsSession::State::kWantsRead:
    case TlsSession::State::kWantsWrite:
      return false;
  }
  return false;
}

StreamError ThriftServerConnection::OnMessage(const ThriftMessage& message,
                                              int64_t read_ns,
                                              TransportEvents& events) {
  if (message.type != ThriftType::kCall) return StreamError::kWrongFrameKind;
  if (awaits_hello_) {
    awaits_hello_ = false;
    listener_.OnHelloOver(*this);
  }
  if (message.method == kThriftGenericRpc) {
    Deliver(message, read_ns, events);
  } else if (message.method == kThriftHandshake) {
    AnswerHandshake(message);
  } else {
    Refuse(message, ThriftFault::kUnknownMethod, "there is no such method");
  }
  return StreamError::kNone;
}

void ThriftServerConnection::Deliver(const ThriftMessage& message,
                                     int64_t read_ns, TransportEvents& events) {
  const RequestHeader* const header =
      heads_.Read(message.body, message.payload_bytes);
  if (header == nullptr) {
    return Refuse(message, ThriftFault::kProtocolError,
                  "the request is no GenericRequestResponse");
  }
  Request* const request = requests_.Get();
  static_cast<ServerCall&>(*request) = {.request_bytes = message.size(),
                                        .received_ns = read_ns};
  TakeHeader(*header, *request);
  // The header's bytes are gone at the next read.
  if (!header->trace_context.empty()) {
    request->trace_bytes = std::string(header->trace_context);
    request->trace_context = request->trace_bytes;
  }
  request->connection = this;
  request->sequence_id = message.sequence_id;
  ++pending_requests_;
  if (reports_times_) request->begun_ns = RealClock().MonotonicNs();
  events.OnRequest(request);
}

void ThriftServerConnection::AnswerHandshake(const ThriftMessage& message) {
  const absl::StatusOr<std::string> answer =
      distbench::AnswerHandshake(context().security.test_nonce, message.body);
  if (!answer.ok()) {
    return Refuse(message, ThriftFault::kProtocolError, "malformed handshake");
  }
  SendFrame(ThriftFrame(ThriftType::kReply, kThriftHandshake,
                        message.sequence_id, *answer));
}

void ThriftServerConnection::Refuse(const ThriftMessage& message,
                                    ThriftFault fault, absl::string_view text) {
  ++context().thrift_counters.refused_requests;
  SendFrame(
      ThriftExceptionFrame(message.method, message.sequence_id, fault, text));
}

void ThriftServerConnection::Reply(Request& request) {
  --pending_requests_;
  if (is_open()) {
    ResponseHeader header = {
        .server_instance = request.reply_instance,
        .error_message = request.reply_error.substr(0, kMaxErrorBytes)};
    if (reports_times_) {
      header.queue_ns = request.begun_ns - request.received_ns;
      header.handler_ns = RealClock().MonotonicNs() - request.begun_ns;
    }
    Send(ThriftType::kReply, request.sequence_id, header, request.reply_bytes);
    ThrottleReading();
  } else if (pending_requests_ == 0) {
    listener_.OnClosed(*this);
  }
  requests_.Put(&request);
}

// Accepts no more requests from a client that does not read its replies.
void ThriftServerConnection::ThrottleReading() {
  if (reads() ? queued_bytes() < max_queued_bytes_
              : queued_bytes() > max_queued_bytes_ / 2) {
    return;
  }
  set_reads(!reads());
  UpdateInterest();
}

void ThriftServerConnection::Finish() {
  if (!is_open()) return;
  Flush();
  if (!is_open()) return;
  Close();
  OnLost("");
}

void ThriftServerConnection::OnLost(const std::string& /*reason*/) {
  if (std::exchange(awaits_hello_, false)) listener_.OnHelloOver(*this);
  listener_.OnClosed(*this);
}

}  // namespace distbench
