// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/client_connection.h"

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
    : DialledConnection(context, target, calls, listener,
                        ReplyKind(context.settings),
                        context.settings.client_max_batch),
      expects_times_(context.settings.measures_time_parts) {}

void ClientConnection::OnEvents(uint32_t epoll_events,
                                TransportEvents& events) {
  if (epoll_events & EPOLLOUT) OnWritable();
  if (epoll_events & ~uint32_t{EPOLLOUT}) {
    if (expects_times_) {
      ReadReplies<FrameKind::kTimedReply>(events);
    } else {
      ReadReplies<FrameKind::kReply>(events);
    }
  }
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
  Calls::Entry* entry = nullptr;
  const Calls::Match match = calls_.Find(frame.call_id, entry);
  StreamError error;
  if (!IsAwaited(match, entry, error)) return error;
  const payload::ResponseHeader* const header =
      heads_.Read(head, frame.message_bytes - frame.head_bytes);
  if (header == nullptr) return StreamError::kMalformedMessage;
  ClientCall& call = TakeReply(*entry, *header,
                               frame.message_bytes - TimesBytes(kind), read_ns);
  if constexpr (kind == FrameKind::kTimedReply) {
    const ReplyTimes reported = DecodeReplyTimes(times);
    call.server_queue_ns = reported.queue_ns;
    call.server_handler_ns = reported.handler_ns;
  }
  events.OnDone(&call);
  return StreamError::kNone;
}

}  // namespace distbench::protocol
