// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/thrift/server_connection.h"

#include <string>

#include "absl/status/statusor.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench::thrift {
namespace {

// A reply's other fields take less than the rest.
constexpr size_t kMaxErrorBytes = ThriftDecoder::kMaxKeptBytes - 512;

}  // namespace

void ThriftServerConnection::OnReady(uint32_t epoll_events,
                                     protocol::TransportEvents& events) {
  if (!is_open()) return;
  if (Secure()) {
    Exchange(epoll_events, [&] {
      Read([&](const ThriftMessage& message, int64_t read_ns) {
        return OnMessage(message, read_ns, events);
      });
    });
  }
  SettleError();
}

protocol::StreamError ThriftServerConnection::OnMessage(
    const ThriftMessage& message, int64_t read_ns,
    protocol::TransportEvents& events) {
  if (message.type != ThriftType::kCall)
    return protocol::StreamError::kWrongFrameKind;
  NoteRequest(read_ns);
  if (message.method == kThriftGenericRpc) {
    Deliver(message, read_ns, events);
  } else if (message.method == kThriftHandshake) {
    AnswerHandshake(message);
  } else {
    Refuse(message, ThriftFault::kUnknownMethod, "there is no such method");
  }
  return protocol::StreamError::kNone;
}

void ThriftServerConnection::Deliver(const ThriftMessage& message,
                                     int64_t read_ns,
                                     protocol::TransportEvents& events) {
  const payload::RequestHeader* const header =
      heads_.Read(message.body, message.payload_bytes);
  if (header == nullptr) {
    return Refuse(message, ThriftFault::kProtocolError,
                  "the request is no GenericRequestResponse");
  }
  Request& request = NewRequest(*header, message.size(), read_ns);
  request.sequence_id = message.sequence_id;
  events.OnRequest(&request);
}

void ThriftServerConnection::AnswerHandshake(const ThriftMessage& message) {
  const absl::StatusOr<std::string> answer =
      distbench::protocol::AnswerHandshake(context().security.test_nonce,
                                           message.body);
  if (!answer.ok()) {
    return Refuse(message, ThriftFault::kProtocolError, "malformed handshake");
  }
  if (protocol::KnowsNonce(context().security.test_nonce, message.body)) {
    NoteProven();
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

void ThriftServerConnection::SendReply(const Request& request) {
  Send(ThriftType::kReply, request.sequence_id,
       ReplyHeader(request, kMaxErrorBytes), request.reply_bytes);
}

}  // namespace distbench::thrift
