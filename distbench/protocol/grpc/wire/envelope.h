// The beginning of a StreamMessage (data_plane.proto), encoded by hand: all of
// it except the bytes of the message inside, which follow.

#ifndef DISTBENCH_PROTOCOL_GRPC_WIRE_ENVELOPE_H_
#define DISTBENCH_PROTOCOL_GRPC_WIRE_ENVELOPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::protocol {

struct Envelope {
  uint64_t sequence = 0;
  uint64_t message_bytes = 0;
};

// The fields' tags take 2 bytes, the sequence 8 and the length up to 5.
inline constexpr size_t kMaxEnvelopeBytes = 15;

// Writes up to kMaxEnvelopeBytes. Returns their number. message_bytes must be
// less than 2^32.
size_t WriteEnvelope(const Envelope& envelope, char* out);

// Reads the envelope of a StreamMessage, which is the concatenation of
// `slices`, and removes it from them. Returns nothing if it is malformed: if
// its fields are not those of WriteEnvelope(), or the slices hold more or less
// than the message.
std::optional<Envelope> TakeEnvelope(absl::Span<absl::string_view> slices);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_WIRE_ENVELOPE_H_
