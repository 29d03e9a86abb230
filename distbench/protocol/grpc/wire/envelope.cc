#include "distbench/protocol/grpc/wire/envelope.h"

#include <algorithm>

namespace distbench::protocol {
namespace {

// Field numbers and wire types, as in a serialised message.
constexpr char kSequenceTag = 1 << 3 | 1;  // fixed64
constexpr char kMessageTag = 2 << 3 | 2;   // with a length

constexpr size_t kSequenceBytes = 8;
constexpr size_t kLengthAt = 1 + kSequenceBytes + 1;

// Reads the length at the end of an envelope. Returns the envelope's size, or 0
// if it is malformed.
size_t ReadLength(absl::string_view bytes, uint64_t& length) {
  length = 0;
  for (size_t i = kLengthAt; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    length |= uint64_t{byte & 0x7fu} << (7 * (i - kLengthAt));
    if (byte < 0x80) return i + 1;
  }
  return 0;
}

}  // namespace

size_t WriteEnvelope(const Envelope& envelope, char* out) {
  char* const begin = out;
  *out++ = kSequenceTag;
  for (size_t i = 0; i < kSequenceBytes; ++i) {
    *out++ = static_cast<char>(envelope.sequence >> (8 * i));
  }
  *out++ = kMessageTag;
  uint64_t length = envelope.message_bytes;
  for (; length >= 0x80; length >>= 7) {
    *out++ = static_cast<char>(length | 0x80);
  }
  *out++ = static_cast<char>(length);
  return out - begin;
}

std::optional<Envelope> TakeEnvelope(absl::Span<absl::string_view> slices) {
  // The envelope may be spread over several slices.
  char buffer[kMaxEnvelopeBytes];
  size_t buffered = 0;
  size_t total_bytes = 0;
  for (absl::string_view slice : slices) {
    buffered += slice.copy(buffer + buffered, kMaxEnvelopeBytes - buffered);
    total_bytes += slice.size();
  }
  const absl::string_view bytes(buffer, buffered);
  if (bytes.size() <= kLengthAt || bytes[0] != kSequenceTag ||
      bytes[kLengthAt - 1] != kMessageTag) {
    return std::nullopt;
  }
  Envelope envelope;
  size_t to_remove = ReadLength(bytes, envelope.message_bytes);
  if (to_remove == 0 || to_remove + envelope.message_bytes != total_bytes) {
    return std::nullopt;
  }
  for (size_t i = 0; i < kSequenceBytes; ++i) {
    envelope.sequence |= uint64_t{static_cast<unsigned char>(bytes[1 + i])}
                         << (8 * i);
  }
  for (absl::string_view& slice : slices) {
    const size_t piece = std::min(to_remove, slice.size());
    slice.remove_prefix(piece);
    to_remove -= piece;
  }
  return envelope;
}

}  // namespace distbench::protocol
