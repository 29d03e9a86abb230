#ifndef DISTBENCH_PRODUCTS_HTTP2_FRAME_BLOCK_H_
#define DISTBENCH_PRODUCTS_HTTP2_FRAME_BLOCK_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "distbench/protocol/tcp/send_queue.h"
#include "distbench/protocol/tcp/stream.h"

namespace distbench::http2 {

// Frames that are gathered to be written at once. Payloads are references to
// the payload slab; everything else is copied.
class FrameBlock {
 public:
  // The largest frame that nghttp2 makes, with its header.
  static constexpr size_t kMaxFrameBytes = 9 + 16 * 1024;

  FrameBlock();

  // Whether there is room for this many more frames, of which there is always
  // room for two if the block is empty.
  bool has_room(int frames) const {
    return kBytes - size_ >= frames * kMaxFrameBytes &&
           end_ + 2 * frames <= kMaxPieces;
  }
  bool empty() const { return begin_ == end_; }

  void Append(absl::string_view bytes);
  // At most kMaxFrameBytes.
  void AppendPayload(int64_t bytes);

  // Writes as much as the stream accepts. See SendQueue.
  [[nodiscard]] protocol::SendQueue::Outcome Write(protocol::Stream& stream);

 private:
  static constexpr size_t kBytes = 64 * 1024;
  static constexpr int kMaxPieces = 64;

  const std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;  // of bytes_ in use
  iovec pieces_[kMaxPieces];
  int begin_ = 0;  // pieces that are left
  int end_ = 0;
};

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_FRAME_BLOCK_H_
