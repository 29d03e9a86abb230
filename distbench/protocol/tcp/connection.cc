// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/connection.h"

#include <algorithm>
#include <utility>

namespace distbench::protocol {
namespace {

// Whether what is sent is copied: see WriteQueue.
bool Copies(const ConnectionContext& context, FrameKind incoming) {
  const auto side = incoming == FrameKind::kRequest
                        ? DriverNetwork::Side::kServer
                        : DriverNetwork::Side::kClient;
  return !context.security.network->settings(side).zero_copy;
}

}  // namespace

Connection::Connection(ConnectionContext& context, FrameKind incoming,
                       int64_t max_batch)
    : MessageConnection(context, max_batch, Copies(context, incoming),
                        incoming) {}

void Connection::Close() {
  TakeReports(EPOLLERR);
  MessageConnection::Close();
}

int64_t Connection::SendTimedReply(uint64_t call_id,
                                   const payload::ResponseHeader& header,
                                   int64_t target_bytes, int64_t queue_ns,
                                   int64_t begun_ns) {
  return Queued(queue_.AppendTimedReply(call_id, header, target_bytes, queue_ns,
                                        begun_ns));
}

template <typename Header>
void SendQueue::Encode(FrameKind kind, const Header& header,
                       int64_t target_bytes, Template<Header>& frame) {
  const payload::MessageLayout layout =
      payload::LayOutMessage(header, target_bytes);
  const bool is_inline =
      layout.payload_bytes <= WriteQueue::kMaxInlinePayloadBytes;
  const size_t times_bytes = TimesBytes(kind);
  frame.header = header;
  frame.target_bytes = target_bytes;
  frame.message_bytes = layout.total_bytes();
  frame.payload_bytes = is_inline ? 0 : layout.payload_bytes;
  frame.encoded_bytes =
      kFrameHeaderBytes + times_bytes +
      static_cast<size_t>(layout.total_bytes() - frame.payload_bytes);
  frame.encoded.assign(std::max(frame.encoded_bytes, kBlockBytes), 'D');
  char* out = frame.encoded.data();
  EncodeFrameHeader(
      {.message_bytes =
           static_cast<uint32_t>(layout.total_bytes() + times_bytes),
       .head_bytes = static_cast<uint32_t>(layout.head_bytes + times_bytes),
       .kind = kind},
      out);
  payload::WriteHead(header, layout, out + kFrameHeaderBytes + times_bytes);
  // The caller owns the strings; they may be gone at the next frame.
  frame.is_reusable = !HasStrings(header);
}

template void SendQueue::Encode(FrameKind, const payload::RequestHeader&,
                                int64_t, Template<payload::RequestHeader>&);
template void SendQueue::Encode(FrameKind, const payload::ResponseHeader&,
                                int64_t, Template<payload::ResponseHeader>&);

}  // namespace distbench::protocol
