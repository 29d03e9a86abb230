// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "message.h"

#include <algorithm>

namespace own_driver {

// Takes bytes of one message from `bytes`: at least one, if there are any.
StreamError Decoder::Take(absl::string_view& bytes) {
  if (!is_complete_) {
    if (kept_.size() < sizeof(prefix_)) {
      if (!Keep(sizeof(prefix_), bytes)) return StreamError::kNone;
      std::memcpy(&prefix_, kept_.data(), sizeof(prefix_));
      if (prefix_.head_bytes > kMaxHeadBytes) {
        return StreamError::kOversizedHead;
      }
      if (int64_t{prefix_.head_bytes} + prefix_.payload_bytes >
          distbench::payload::kMaxMessageBytes) {
        return StreamError::kOversizedMessage;
      }
    }
    if (!Keep(sizeof(prefix_) + prefix_.head_bytes, bytes)) {
      return StreamError::kNone;
    }
    is_complete_ = true;
    payload_left_ = prefix_.payload_bytes;
  }
  const size_t skipped = std::min(payload_left_, bytes.size());
  bytes.remove_prefix(skipped);
  payload_left_ -= skipped;
  return StreamError::kNone;
}

// Moves bytes to what is kept. Returns whether that has the wanted size.
bool Decoder::Keep(size_t wanted, absl::string_view& bytes) {
  const size_t count = std::min(wanted - kept_.size(), bytes.size());
  kept_.append(bytes.data(), count);
  bytes.remove_prefix(count);
  return kept_.size() == wanted;
}

}  // namespace own_driver
