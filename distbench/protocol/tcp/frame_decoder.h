#ifndef DISTBENCH_PROTOCOL_TCP_FRAME_DECODER_H_
#define DISTBENCH_PROTOCOL_TCP_FRAME_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench {

// Finds the frames of one kind in a stream of bytes, however the stream is
// split into pieces. Payloads are skipped. If a frame is spread over several
// pieces, its header and its message's head are kept.
//
// Any input is safe. After an error the stream is lost; call Reset().
class FrameDecoder {
 public:
  explicit FrameDecoder(FrameKind kind) : kind_(kind) {}

  // Takes the next piece. For each frame that it completes, in order, calls
  //   StreamError on_frame(const FrameHeader& header, absl::string_view head)
  // and stops at the first error, which it returns. `head` is valid during the
  // call, which must not use this decoder.
  template <typename OnFrame>
  [[nodiscard]] StreamError Decode(absl::string_view bytes,
                                   const OnFrame& on_frame);

  // Bytes of the current payload that are still to be skipped.
  size_t payload_bytes_left() const { return payload_bytes_left_; }

  // Prepares for the beginning of another stream.
  void Reset() {
    kept_.clear();
    kept_is_complete_ = false;
    payload_bytes_left_ = 0;
  }

 private:
  // Takes from `bytes` what the kept frame still lacks.
  StreamError Continue(absl::string_view& bytes);
  void Keep(size_t count, absl::string_view& bytes);

  const FrameKind kind_;

  // The incomplete frame; kept_ is empty if there is none.
  std::string kept_;         // its header and its message's head, so far
  FrameHeader kept_header_;  // valid once kept_ has the whole header
  uint32_t payload_bytes_left_ = 0;
  bool kept_is_complete_ = false;
};

template <typename OnFrame>
StreamError FrameDecoder::Decode(absl::string_view bytes,
                                 const OnFrame& on_frame) {
  while (!bytes.empty()) {
    if (kept_.empty() && bytes.size() >= kFrameHeaderBytes) {
      const FrameHeader header = DecodeFrameHeader(bytes.data());
      StreamError error = CheckFrameHeader(header, kind_);
      if (error != StreamError::kNone) return error;
      const size_t frame_bytes = kFrameHeaderBytes + header.message_bytes;
      if (bytes.size() >= frame_bytes) {
        error = on_frame(header,
                         bytes.substr(kFrameHeaderBytes, header.head_bytes));
        if (error != StreamError::kNone) return error;
        bytes.remove_prefix(frame_bytes);
        continue;
      }
    }
    StreamError error = Continue(bytes);
    if (error != StreamError::kNone) return error;
    if (!kept_is_complete_) continue;
    error = on_frame(kept_header_,
                     absl::string_view(kept_).substr(kFrameHeaderBytes));
    if (error != StreamError::kNone) return error;
    kept_.clear();
    kept_is_complete_ = false;
  }
  return StreamError::kNone;
}

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_FRAME_DECODER_H_
