#include "distbench/products/thrift/client_connection.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"

namespace distbench::thrift {
namespace {

// Of an exception's text, in errors.
constexpr size_t kMaxTextBytes = 1000;

}  // namespace

ThriftClientConnection::ThriftClientConnection(ThriftContext& context,
                                               protocol::DialTarget target,
                                               Calls& calls, Listener& listener)
    : ThriftConnection(context),
      max_queued_bytes_(context.settings.send_queue_bytes),
      calls_(calls),
      listener_(listener),
      sequence_ids_(calls),
      redialer_(context, target, context.settings.handshake_timeout_ns, *this,
                *this) {
  if (!target.stream.is_open()) return;
  Open(std::move(target.stream), /*watched=*/false);
}

void ThriftClientConnection::Send(protocol::ClientCall& call, uint64_t call_id,
                                  const payload::RequestHeader& header) {
  // Must precede Send(), which may flush.
  unstamped_.Add(call);
  call.sent_bytes =
      ThriftConnection::Send(ThriftType::kCall, sequence_ids_.Add(call_id),
                             header, call.request_bytes);
  if (!is_open()) RequestDial();
}

void ThriftClientConnection::OnReady(uint32_t epoll_events,
                                     protocol::TransportEvents& events) {
  if (redialer_.is_dialing()) return redialer_.Continue();
  if (!is_open()) return;
  if (epoll_events & EPOLLOUT) OnWritable();
  if (epoll_events & ~uint32_t{EPOLLOUT}) {
    Read([&](const ThriftMessage& message, int64_t read_ns) {
      return OnMessage(message, read_ns, events);
    });
  }
  SettleError();
}

protocol::StreamError ThriftClientConnection::OnMessage(
    const ThriftMessage& message, int64_t read_ns,
    protocol::TransportEvents& events) {
  const bool is_exception = message.type == ThriftType::kException;
  if (message.method != kThriftGenericRpc ||
      (message.type != ThriftType::kReply && !is_exception)) {
    return protocol::StreamError::kWrongFrameKind;
  }
  Calls::Entry* entry;
  switch (sequence_ids_.Find(message.sequence_id, entry)) {
    case Calls::Match::kUnknown:
      return protocol::StreamError::kUnknownCall;
    case Calls::Match::kEnded:
      ++context().counters.late_replies;
      return protocol::StreamError::kNone;
    case Calls::Match::kFound:
      break;
  }
  // A reply to a request that was not sent yet.
  if (entry->call->sent_ns == 0) return protocol::StreamError::kUnknownCall;
  if (!is_exception) return Complete(message, *entry, read_ns, events);
  ++context().thrift_counters.exceptions;
  protocol::ClientCall& call = *entry->call;
  calls_.Remove(*entry);
  listener_.OnFailed(
      call,
      absl::StrCat("INTERNAL: ", redialer_.name(),
                   " has answered with an exception: ",
                   ThriftExceptionText(message.body).substr(0, kMaxTextBytes)));
  return protocol::StreamError::kNone;
}

protocol::StreamError ThriftClientConnection::Complete(
    const ThriftMessage& reply, Calls::Entry& entry, int64_t read_ns,
    protocol::TransportEvents& events) {
  const payload::ResponseHeader* const header =
      heads_.Read(reply.body, reply.payload_bytes);
  if (header == nullptr) return protocol::StreamError::kMalformedMessage;
  redialer_.OnReply();
  protocol::ClientCall& call = *entry.call;
  calls_.Remove(entry);
  call.done_ns = read_ns;
  call.received_bytes = reply.size();
  call.responding_instance = header->server_instance;
  call.error = header->error_message;
  if (context().settings.measures_time_parts) {
    call.server_queue_ns = header->queue_ns;
    call.server_handler_ns = header->handler_ns;
  }
  events.OnDone(&call);
  return protocol::StreamError::kNone;
}

// Fails the calls in flight.
void ThriftClientConnection::GoDown(const std::string& error) {
  StampCalls();
  Close();
  redialer_.OnDown(base::RealClock().MonotonicNs());
  listener_.OnDueChanged(*this);
  listener_.OnDown(*this, error);
}

void ThriftClientConnection::RequestDial() {
  if (is_open() || redialer_.is_pending()) return;
  redialer_.Request();
  listener_.OnDueChanged(*this);
}

}  // namespace distbench::thrift
