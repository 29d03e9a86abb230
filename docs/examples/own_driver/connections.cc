// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "connections.h"

#include <sys/epoll.h>

namespace own_driver {

using distbench::payload::RequestHeader;
using distbench::payload::ResponseHeader;

void PrefixedClient::OnEvents(uint32_t epoll_events, TransportEvents& events) {
  if (epoll_events & EPOLLOUT) OnWritable();
  if (epoll_events & ~uint32_t{EPOLLOUT}) {
    Read([&](const Message& message, int64_t read_ns) {
      return OnReply(message, read_ns, events);
    });
  }
}

StreamError PrefixedClient::OnReply(const Message& message, int64_t read_ns,
                                    TransportEvents& events) {
  Calls::Entry* entry = nullptr;
  const Calls::Match match = calls_.Find(message.call_id, entry);
  StreamError error;
  if (!IsAwaited(match, entry, error)) return error;
  const ResponseHeader* const header =
      heads_.Read(message.head, message.payload_bytes);
  if (header == nullptr) return StreamError::kMalformedMessage;
  distbench::protocol::ClientCall& call =
      TakeReply(*entry, *header, message.size(), read_ns);
  TakeTimes(*header, call);
  events.OnDone(&call);
  return StreamError::kNone;
}

void PrefixedServer::OnReady(uint32_t epoll_events, TransportEvents& events) {
  if (!is_open()) return;
  if (Secure() && Greet(greeting_)) {
    Exchange(epoll_events, [&] {
      Read([&](const Message& message, int64_t read_ns) {
        return OnRequest(message, read_ns, events);
      });
    });
  }
  SettleError();
}

StreamError PrefixedServer::OnRequest(const Message& message, int64_t read_ns,
                                      TransportEvents& events) {
  const RequestHeader* const header =
      heads_.Read(message.head, message.payload_bytes);
  if (header == nullptr) return StreamError::kMalformedMessage;
  PrefixedRequest& request = NewRequest(*header, message.size(), read_ns);
  request.call_id = message.call_id;
  events.OnRequest(&request);
  return StreamError::kNone;
}

void PrefixedServer::SendReply(const PrefixedRequest& request) {
  Queued(Append(queue_, request.call_id,
                ReplyHeader(request, /*max_error_bytes=*/kMaxHeadBytes - 256),
                request.reply_bytes));
}

}  // namespace own_driver
