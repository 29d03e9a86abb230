// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/server_connection.h"

#include <utility>

#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench::protocol {
namespace {

// A reply's other fields take less than the rest of kMaxHeadBytes.
constexpr size_t kMaxErrorBytes = kMaxHeadBytes - 256;

}  // namespace

ServerConnection::ServerConnection(ConnectionContext& context, Socket accepted)
    : AcceptedConnection(std::move(accepted), context, FrameKind::kRequest,
                         context.settings.server_max_batch) {
  greeting_.emplace(Greeting::Side::kServer, context.security.test_nonce);
}

void ServerConnection::OnReady(uint32_t epoll_events, TransportEvents& events) {
  if (!is_open()) return;
  if (epoll_events & EPOLLERR) epoll_events = TakeReports(epoll_events);
  if (Secure() && Greet(greeting_)) {
    Exchange(epoll_events, [&] { ReadRequests(events); });
  }
  SettleError();
}

inline void ServerConnection::ReadRequests(TransportEvents& events) {
  Read([&](const FrameHeader& frame, absl::string_view head, int64_t read_ns) {
    return OnRequest(frame, head, read_ns, events);
  });
}

// Inline because there is one caller, which handles every request.
inline StreamError ServerConnection::OnRequest(const FrameHeader& frame,
                                               absl::string_view head,
                                               int64_t read_ns,
                                               TransportEvents& events) {
  const payload::RequestHeader* const header =
      heads_.Read(head, frame.message_bytes - frame.head_bytes);
  if (header == nullptr) return StreamError::kMalformedMessage;
  TcpRequest& request = NewRequest(*header, frame.message_bytes, read_ns);
  request.call_id = frame.call_id;
  events.OnRequest(&request);
  return StreamError::kNone;
}

void ServerConnection::SendReply(const TcpRequest& request) {
  const payload::ResponseHeader header = HeaderOf(request, kMaxErrorBytes);
  if (reports_times_) {
    SendTimedReply(request.call_id, header, request.reply_bytes,
                   request.begun_ns - request.received_ns, request.begun_ns);
  } else {
    Send(FrameKind::kReply, request.call_id, header, request.reply_bytes);
  }
}

}  // namespace distbench::protocol
