// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_THRIFT_DECODER_H_
#define DISTBENCH_PRODUCTS_THRIFT_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "distbench/products/thrift/message.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench::thrift {

// Finds the messages in a stream of frames, however the stream is split into
// pieces. A payload at the end of a message is skipped, and of a frame that is
// spread over several pieces, only what precedes the payload is kept.
//
// Any input is safe. After an error the stream is lost; call Reset().
class ThriftDecoder {
 public:
  // What precedes a payload at the end of a message may have this size, as may
  // messages that do not end with their payload.
  static constexpr size_t kMaxKeptBytes = 4 << 20;
  static constexpr size_t kMaxMethodBytes = 256;
  // The largest message, and what is around it.
  static constexpr uint32_t kMaxFrameBytes = payload::kMaxMessageBytes + 30;

  // Takes the next piece. For each message that it completes, in order, calls
  //   StreamError on_message(const ThriftMessage& message)
  // and stops at the first error, which it returns. The message is valid during
  // the call, which must not use this decoder.
  template <typename OnMessage>
  [[nodiscard]] protocol::StreamError Decode(absl::string_view bytes,
                                             const OnMessage& on_message);

  // Bytes of the current frame that are still to be skipped, which are the
  // payload and little more.
  size_t payload_bytes_left() const { return left_; }

  // Prepares for the beginning of another stream.
  void Reset();

 private:
  // A frame begins with these bytes at least: its size and its version.
  static constexpr size_t kFirstBytes = 8;

  // Where the parts of a frame are, from its first byte.
  struct Layout {
    bool is_known = false;
    size_t frame_bytes = 0;  // known earlier; 0: unknown
    ThriftType type = ThriftType::kCall;
    size_t method_bytes = 0;
    uint32_t sequence_id = 0;
    size_t body_begin = 0;
    size_t body_end = 0;  // the rest need not be kept
    int64_t payload_bytes = 0;
  };

  // Finds the layout of the frame of which `bytes` are the first, possibly
  // followed by other frames, if there are enough bytes.
  protocol::StreamError LayOut(absl::string_view bytes);
  protocol::StreamError LayOutMethod(absl::string_view bytes);
  protocol::StreamError LayOutField(absl::string_view bytes,
                                    absl::string_view method);
  ThriftMessage MessageAt(const char* frame) const;

  // Takes the next bytes of a frame that is spread over several pieces.
  protocol::StreamError Continue(absl::string_view& bytes);
  protocol::StreamError AppendKept(absl::string_view& bytes);
  protocol::StreamError Skip(absl::string_view& bytes);

  Layout layout_;

  // The beginning of a frame whose other bytes are missing; empty if there is
  // none.
  std::string kept_;
  size_t wanted_ = kFirstBytes;  // size of kept_ for the next look at it
  size_t left_ = 0;              // bytes to skip
};

template <typename OnMessage>
protocol::StreamError ThriftDecoder::Decode(absl::string_view bytes,
                                            const OnMessage& on_message) {
  while (!bytes.empty()) {
    if (kept_.empty()) {
      protocol::StreamError error = LayOut(bytes);
      if (error != protocol::StreamError::kNone) return error;
      if (layout_.is_known && bytes.size() >= layout_.frame_bytes) {
        if (bytes[layout_.frame_bytes - 1] != 0) {
          return protocol::StreamError::kMalformedMessage;
        }
        error = on_message(MessageAt(bytes.data()));
        if (error != protocol::StreamError::kNone) return error;
        bytes.remove_prefix(layout_.frame_bytes);
        continue;
      }
    }
    protocol::StreamError error = Continue(bytes);
    if (error != protocol::StreamError::kNone) return error;
    if (!layout_.is_known || left_ > 0) continue;
    error = on_message(MessageAt(kept_.data()));
    if (error != protocol::StreamError::kNone) return error;
    Reset();
  }
  return protocol::StreamError::kNone;
}

}  // namespace distbench::thrift

#endif  // DISTBENCH_PRODUCTS_THRIFT_DECODER_H_
