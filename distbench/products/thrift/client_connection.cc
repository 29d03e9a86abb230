// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/thrift/client_connection.h"

#include "absl/strings/str_cat.h"

namespace distbench::thrift {
namespace {

// Of an exception's text, in errors.
constexpr size_t kMaxTextBytes = 1000;

}  // namespace

void ThriftClientConnection::OnEvents(uint32_t epoll_events,
                                      protocol::TransportEvents& events) {
  if (epoll_events & EPOLLOUT) OnWritable();
  if (epoll_events & ~uint32_t{EPOLLOUT}) {
    Read([&](const ThriftMessage& message, int64_t read_ns) {
      return OnMessage(message, read_ns, events);
    });
  }
}

protocol::StreamError ThriftClientConnection::OnMessage(
    const ThriftMessage& message, int64_t read_ns,
    protocol::TransportEvents& events) {
  const bool is_exception = message.type == ThriftType::kException;
  if (message.method != kThriftGenericRpc ||
      (message.type != ThriftType::kReply && !is_exception)) {
    return protocol::StreamError::kWrongFrameKind;
  }
  Calls::Entry* entry = nullptr;
  const Calls::Match match = sequence_ids_.Find(message.sequence_id, entry);
  protocol::StreamError error;
  if (!IsAwaited(match, entry, error)) return error;
  if (is_exception) {
    ++context().thrift_counters.exceptions;
    protocol::ClientCall& call = *entry->call;
    ForgetWireTime(call);
    calls_.Remove(*entry);
    listener_.OnFailed(
        call, absl::StrCat(
                  "INTERNAL: ", redialer().name(),
                  " has answered with an exception: ",
                  ThriftExceptionText(message.body).substr(0, kMaxTextBytes)));
    return protocol::StreamError::kNone;
  }
  const payload::ResponseHeader* const header =
      heads_.Read(message.body, message.payload_bytes);
  if (header == nullptr) return protocol::StreamError::kMalformedMessage;
  protocol::ClientCall& call =
      TakeReply(*entry, *header, message.size(), read_ns);
  TakeTimes(*header, call);
  events.OnDone(&call);
  return protocol::StreamError::kNone;
}

}  // namespace distbench::thrift
