// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/thrift/decoder.h"

#include <algorithm>

#include "distbench/products/thrift/message.h"

namespace distbench::thrift {
namespace {

// Of an empty struct, of a method without a name.
constexpr size_t kMinFrameBytes = kThriftSizeBytes + 13;

// The next look at an incomplete beginning of a frame is at this size at least.
constexpr size_t kSecondLookBytes = 512;

bool IsOurs(ThriftType type, absl::string_view method) {
  return (type == ThriftType::kCall || type == ThriftType::kReply) &&
         (method == kThriftGenericRpc || method == kThriftHandshake);
}

}  // namespace

void ThriftDecoder::Reset() {
  layout_ = {};
  kept_.clear();
  wanted_ = kFirstBytes;
  left_ = 0;
}

protocol::StreamError ThriftDecoder::LayOut(absl::string_view bytes) {
  layout_ = {};
  ThriftReader reader(bytes);
  uint32_t frame_bytes;
  uint32_t version;
  if (!reader.Read32(frame_bytes) || !reader.Read32(version)) {
    return protocol::StreamError::kNone;
  }
  if ((version & kThriftVersionMask) != kThriftVersion) {
    return protocol::StreamError::kNotThrift;
  }
  if (frame_bytes > kMaxFrameBytes)
    return protocol::StreamError::kOversizedMessage;
  layout_.frame_bytes = kThriftSizeBytes + frame_bytes;
  layout_.type = static_cast<ThriftType>(version & 0xff);
  if (layout_.type < ThriftType::kCall || layout_.type > ThriftType::kOneway) {
    return protocol::StreamError::kWrongFrameKind;
  }
  if (layout_.frame_bytes < kMinFrameBytes) {
    return protocol::StreamError::kMalformedMessage;
  }
  return LayOutMethod(bytes.substr(0, layout_.frame_bytes));
}

// Finds the method and what it is given. `bytes` end with the frame at the
// latest.
protocol::StreamError ThriftDecoder::LayOutMethod(absl::string_view bytes) {
  const bool is_whole = bytes.size() == layout_.frame_bytes;
  ThriftReader reader(bytes.substr(std::min(bytes.size(), kFirstBytes)));
  uint32_t method_bytes;
  if (!reader.Read32(method_bytes)) return protocol::StreamError::kNone;
  if (method_bytes > kMaxMethodBytes ||
      kMinFrameBytes + method_bytes > layout_.frame_bytes) {
    return protocol::StreamError::kMalformedMessage;
  }
  layout_.method_bytes = method_bytes;
  absl::string_view method;
  if (!reader.ReadBytes(method_bytes, method) ||
      !reader.Read32(layout_.sequence_id)) {
    return protocol::StreamError::kNone;
  }
  layout_.body_begin = kFirstBytes + reader.position();
  if (IsOurs(layout_.type, method)) return LayOutField(bytes, method);
  if (layout_.frame_bytes > kMaxKeptBytes)
    return protocol::StreamError::kOversizedHead;
  layout_.body_end = layout_.frame_bytes;
  layout_.is_known = is_whole;
  return protocol::StreamError::kNone;
}

// Finds the bytes that the frame carries, and the payload among them.
protocol::StreamError ThriftDecoder::LayOutField(absl::string_view bytes,
                                                 absl::string_view method) {
  const bool is_whole = bytes.size() == layout_.frame_bytes;
  ThriftReader reader(bytes.substr(layout_.body_begin));
  uint8_t type;
  uint16_t id;
  uint32_t size;
  if (!reader.Read8(type) || !reader.Read16(id) || !reader.Read32(size)) {
    return is_whole ? protocol::StreamError::kMalformedMessage
                    : protocol::StreamError::kNone;
  }
  layout_.body_begin += reader.position();
  const uint16_t expected_id = layout_.type == ThriftType::kCall ? 1 : 0;
  if (type != kThriftString || id != expected_id ||
      layout_.body_begin + size + 1 != layout_.frame_bytes) {
    return protocol::StreamError::kMalformedMessage;
  }
  const absl::string_view message = bytes.substr(layout_.body_begin, size);
  const size_t head_bytes =
      method == kThriftGenericRpc ? payload::FindHead(message, size) : 0;
  layout_.is_known = is_whole || head_bytes > 0;
  layout_.body_end = layout_.body_begin + (head_bytes > 0 ? head_bytes : size);
  layout_.payload_bytes =
      head_bytes > 0 ? size - static_cast<int64_t>(head_bytes) : 0;
  const bool is_too_large = !layout_.is_known && bytes.size() > kMaxKeptBytes;
  return is_too_large ? protocol::StreamError::kOversizedHead
                      : protocol::StreamError::kNone;
}

ThriftMessage ThriftDecoder::MessageAt(const char* frame) const {
  constexpr size_t kMethodBegin = 12;
  return {
      .type = layout_.type,
      .method = absl::string_view(frame + kMethodBegin, layout_.method_bytes),
      .sequence_id = layout_.sequence_id,
      .body = absl::string_view(frame + layout_.body_begin,
                                layout_.body_end - layout_.body_begin),
      .payload_bytes = layout_.payload_bytes,
  };
}

protocol::StreamError ThriftDecoder::Continue(absl::string_view& bytes) {
  if (kept_.empty() && layout_.is_known) {
    kept_.assign(bytes.data(), layout_.body_end);
    bytes.remove_prefix(layout_.body_end);
    left_ = layout_.frame_bytes - layout_.body_end;
  } else if (left_ == 0) {
    const protocol::StreamError error = AppendKept(bytes);
    if (error != protocol::StreamError::kNone || !layout_.is_known)
      return error;
  }
  return Skip(bytes);
}

// Adds to kept_, and looks for the layout when there may be enough.
protocol::StreamError ThriftDecoder::AppendKept(absl::string_view& bytes) {
  const size_t count = std::min(wanted_ - kept_.size(), bytes.size());
  kept_.append(bytes.data(), count);
  bytes.remove_prefix(count);
  layout_.is_known = false;
  if (kept_.size() < wanted_) return protocol::StreamError::kNone;
  const protocol::StreamError error = LayOut(kept_);
  if (error != protocol::StreamError::kNone) return error;
  left_ = layout_.frame_bytes - kept_.size();
  if (layout_.is_known) {
    if (left_ == 0 && kept_.back() != 0)
      return protocol::StreamError::kMalformedMessage;
    if (left_ > 0) kept_.resize(layout_.body_end);
    return protocol::StreamError::kNone;
  }
  left_ = 0;
  // Doubling bounds the number of looks.
  wanted_ = std::min({layout_.frame_bytes, kMaxKeptBytes + 1,
                      std::max(kSecondLookBytes, 2 * kept_.size())});
  return protocol::StreamError::kNone;
}

protocol::StreamError ThriftDecoder::Skip(absl::string_view& bytes) {
  const size_t count = std::min(left_, bytes.size());
  const bool is_end = count > 0 && count == left_;
  if (is_end && bytes[count - 1] != kThriftStop) {
    return protocol::StreamError::kMalformedMessage;
  }
  bytes.remove_prefix(count);
  left_ -= count;
  return protocol::StreamError::kNone;
}

}  // namespace distbench::thrift
