// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/frame.h"

#include <algorithm>
#include <cstring>

namespace distbench::protocol {
namespace {

constexpr absl::string_view kMagic = "distbtcp";
constexpr size_t kVersionEnd = 12;

}  // namespace

void EncodeHello(char* out) {
  std::memset(out, 0, kHelloBytes);
  std::memcpy(out, kMagic.data(), kMagic.size());
  std::memcpy(out + kMagic.size(), &kTcpProtocolVersion, 4);
}

StreamError CheckHello(absl::string_view bytes) {
  char expected[kHelloBytes];
  EncodeHello(expected);
  const auto matches = [&](size_t begin, size_t end) {
    end = std::min(end, bytes.size());
    return begin >= end || std::memcmp(bytes.data() + begin, expected + begin,
                                       end - begin) == 0;
  };
  if (!matches(0, kMagic.size())) return StreamError::kNoHello;
  if (!matches(kMagic.size(), kVersionEnd)) return StreamError::kOtherVersion;
  if (!matches(kVersionEnd, kHelloBytes)) return StreamError::kNoHello;
  return StreamError::kNone;
}

StreamError FrameDecoder::Continue(absl::string_view& bytes) {
  if (kept_.size() < kFrameHeaderBytes) {
    AppendKept(kFrameHeaderBytes, bytes);
    if (kept_.size() < kFrameHeaderBytes) return StreamError::kNone;
    kept_header_ = DecodeFrameHeader(kept_.data());
    const StreamError error = CheckFrameHeader(kept_header_, kind_);
    if (error != StreamError::kNone) return error;
    payload_bytes_left_ = kept_header_.message_bytes - kept_header_.head_bytes;
  }
  const size_t kept_bytes = kFrameHeaderBytes + kept_header_.head_bytes;
  AppendKept(kept_bytes, bytes);
  if (kept_.size() < kept_bytes) return StreamError::kNone;
  const size_t skipped = std::min<size_t>(payload_bytes_left_, bytes.size());
  bytes.remove_prefix(skipped);
  payload_bytes_left_ -= skipped;
  kept_is_complete_ = payload_bytes_left_ == 0;
  return StreamError::kNone;
}

// Appends to kept_ until it has `count` bytes, or `bytes` is empty.
void FrameDecoder::AppendKept(size_t count, absl::string_view& bytes) {
  const size_t taken = std::min(count - kept_.size(), bytes.size());
  kept_.append(bytes.data(), taken);
  bytes.remove_prefix(taken);
}

}  // namespace distbench::protocol
