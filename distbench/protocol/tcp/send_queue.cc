#include "distbench/protocol/tcp/send_queue.h"

#include <algorithm>

namespace distbench::protocol {

void SendQueue::Encode(FrameKind kind, const payload::RequestHeader& header,
                       int64_t target_bytes,
                       Template<payload::RequestHeader>& frame) {
  EncodeMessage(kind, header, target_bytes, frame);
}

void SendQueue::Encode(FrameKind kind, const payload::ResponseHeader& header,
                       int64_t target_bytes,
                       Template<payload::ResponseHeader>& frame) {
  EncodeMessage(kind, header, target_bytes, frame);
}

template <typename Header>
void SendQueue::EncodeMessage(FrameKind kind, const Header& header,
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

}  // namespace distbench::protocol
