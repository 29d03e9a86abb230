#include "distbench/protocol/tcp/frame.h"

#include <algorithm>
#include <cstring>

#include "distbench/payload/message_codec.h"

namespace distbench {
namespace {

constexpr absl::string_view kMagic = "distbtcp";
constexpr size_t kVersionEnd = 12;

// Compilers make a single move of these.
template <typename Number>
void Store(Number value, size_t bytes, char* out) {
  for (size_t i = 0; i < bytes; ++i) {
    out[i] = static_cast<char>(value >> (8 * i));
  }
}

template <typename Number>
Number Load(const char* in, size_t bytes) {
  Number value = 0;
  for (size_t i = 0; i < bytes; ++i) {
    value |= Number{static_cast<unsigned char>(in[i])} << (8 * i);
  }
  return value;
}

}  // namespace

void EncodeFrameHeader(const FrameHeader& header, char* out) {
  Store(header.message_bytes, 4, out);
  Store(header.head_bytes | static_cast<uint32_t>(header.kind) << 24, 4,
        out + 4);
  Store(header.call_id, 8, out + 8);
}

FrameHeader DecodeFrameHeader(const char* bytes) {
  const auto head_and_kind = Load<uint32_t>(bytes + 4, 4);
  return {.message_bytes = Load<uint32_t>(bytes, 4),
          .head_bytes = head_and_kind & 0xffffff,
          .kind = static_cast<FrameKind>(head_and_kind >> 24),
          .call_id = Load<uint64_t>(bytes + 8, 8)};
}

StreamError CheckFrameHeader(const FrameHeader& header, FrameKind expected) {
  if (header.kind != expected) return StreamError::kWrongFrameKind;
  if (header.message_bytes > kMaxMessageBytes) {
    return StreamError::kOversizedMessage;
  }
  if (header.head_bytes > kMaxHeadBytes) return StreamError::kOversizedHead;
  if (header.head_bytes > header.message_bytes) {
    return StreamError::kHeadBeyondMessage;
  }
  return StreamError::kNone;
}

void EncodeHello(char* out) {
  std::memset(out, 0, kHelloBytes);
  std::memcpy(out, kMagic.data(), kMagic.size());
  Store(kTcpProtocolVersion, 4, out + kMagic.size());
}

StreamError CheckHello(absl::string_view bytes) {
  char expected[kHelloBytes];
  EncodeHello(expected);
  const auto matches = [&](size_t begin, size_t end) {
    end = std::min(end, bytes.size());
    return begin >= end ||
           std::memcmp(bytes.data() + begin, expected + begin, end - begin) == 0;
  };
  if (!matches(0, kMagic.size())) return StreamError::kNoHello;
  if (!matches(kMagic.size(), kVersionEnd)) return StreamError::kOtherVersion;
  if (!matches(kVersionEnd, kHelloBytes)) return StreamError::kNoHello;
  return StreamError::kNone;
}

}  // namespace distbench
