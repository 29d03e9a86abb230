#include "distbench/protocol/tcp/frame_decoder.h"

#include <algorithm>

namespace distbench {

StreamError FrameDecoder::Continue(absl::string_view& bytes) {
  if (kept_.size() < kFrameHeaderBytes) {
    Keep(kFrameHeaderBytes, bytes);
    if (kept_.size() < kFrameHeaderBytes) return StreamError::kNone;
    kept_header_ = DecodeFrameHeader(kept_.data());
    const StreamError error = CheckFrameHeader(kept_header_, kind_);
    if (error != StreamError::kNone) return error;
    payload_bytes_left_ = kept_header_.message_bytes - kept_header_.head_bytes;
  }
  const size_t kept_bytes = kFrameHeaderBytes + kept_header_.head_bytes;
  Keep(kept_bytes, bytes);
  if (kept_.size() < kept_bytes) return StreamError::kNone;
  const size_t skipped = std::min<size_t>(payload_bytes_left_, bytes.size());
  bytes.remove_prefix(skipped);
  payload_bytes_left_ -= skipped;
  kept_is_complete_ = payload_bytes_left_ == 0;
  return StreamError::kNone;
}

// Appends to kept_ until it has `count` bytes, or `bytes` is empty.
void FrameDecoder::Keep(size_t count, absl::string_view& bytes) {
  const size_t taken = std::min(count - kept_.size(), bytes.size());
  kept_.append(bytes.data(), taken);
  bytes.remove_prefix(taken);
}

}  // namespace distbench
