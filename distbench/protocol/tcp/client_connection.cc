#include "distbench/protocol/tcp/client_connection.h"

#include <utility>

#include "distbench/base/clock.h"

namespace distbench::protocol {
namespace {

FrameKind ReplyKind(const TcpSettings& settings) {
  return settings.measures_time_parts ? FrameKind::kTimedReply
                                      : FrameKind::kReply;
}

}  // namespace

ClientConnection::ClientConnection(ConnectionContext& context,
                                   DialTarget target, Calls& calls,
                                   Listener& listener)
    : Connection(context, ReplyKind(context.settings),
                 context.settings.client_max_batch),
      expects_times_(context.settings.measures_time_parts),
      max_queued_bytes_(context.settings.send_queue_bytes),
      calls_(calls),
      listener_(listener),
      redialer_(context, target, context.settings.handshake_timeout_ns, *this,
                *this) {
  if (!target.stream.is_open()) return;
  Open(std::move(target.stream), /*watched=*/false);
}

void ClientConnection::OnReady(uint32_t epoll_events, TransportEvents& events) {
  if (redialer_.is_dialing()) return redialer_.Continue();
  if (!is_open()) return;
  if (epoll_events & EPOLLERR) epoll_events = TakeReports(epoll_events);
  if (epoll_events & EPOLLOUT) OnWritable();
  if (epoll_events & ~uint32_t{EPOLLOUT}) {
    if (expects_times_) {
      ReadReplies<FrameKind::kTimedReply>(events);
    } else {
      ReadReplies<FrameKind::kReply>(events);
    }
  }
  SettleError();
}

template <FrameKind kind>
inline void ClientConnection::ReadReplies(TransportEvents& events) {
  Read([&](const FrameHeader& frame, absl::string_view head, int64_t read_ns) {
    return OnReply<kind>(frame, head, read_ns, events);
  });
}

// Inline because there is one caller for each kind, which handles every reply.
template <FrameKind kind>
inline StreamError ClientConnection::OnReply(const FrameHeader& frame,
                                             absl::string_view head,
                                             int64_t read_ns,
                                             TransportEvents& events) {
  if (head.size() < TimesBytes(kind)) return StreamError::kMalformedMessage;
  const char* const times = head.data();
  head.remove_prefix(TimesBytes(kind));
  Calls::Entry* entry;
  switch (calls_.Find(frame.call_id, entry)) {
    case Calls::Match::kUnknown:
      return StreamError::kUnknownCall;
    case Calls::Match::kEnded:
      ++context().counters.late_replies;
      return StreamError::kNone;
    case Calls::Match::kFound:
      break;
  }
  // The request of another connection, or one that was not sent yet.
  if (entry->owner != this || entry->call->sent_ns == 0) {
    return StreamError::kUnknownCall;
  }
  const payload::ResponseHeader* const header =
      heads_.Read(head, frame.message_bytes - frame.head_bytes);
  if (header == nullptr) return StreamError::kMalformedMessage;
  redialer_.OnReply();
  ClientCall& call = *entry->call;
  calls_.Remove(*entry);
  call.done_ns = read_ns;
  call.received_bytes = frame.message_bytes - TimesBytes(kind);
  call.responding_instance = header->server_instance;
  call.error = header->error_message;
  if constexpr (kind == FrameKind::kTimedReply) {
    const ReplyTimes reported = DecodeReplyTimes(times);
    call.server_queue_ns = reported.queue_ns;
    call.server_handler_ns = reported.handler_ns;
  }
  events.OnDone(&call);
  return StreamError::kNone;
}

// Fails the calls in flight.
void ClientConnection::GoDown(const std::string& error) {
  StampCalls();
  Close();
  redialer_.OnDown(base::RealClock().MonotonicNs());
  listener_.OnDueChanged(*this);
  listener_.OnDown(*this, error);
}

void ClientConnection::RequestDial() {
  if (is_open() || redialer_.is_pending()) return;
  redialer_.Request();
  listener_.OnDueChanged(*this);
}

}  // namespace distbench::protocol
