// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The messages of the libfabric driver. All numbers are little-endian.
//
// Two workers exchange messages over a link, of which each side has its own
// number, as with a connection. Every message begins with
//
//   bytes 0..6    the receiver's number of the link; 0 in a client's hello
//   byte  7       kind
//   bytes 8..11   how many messages the sender has sent on the link before;
//                 providers may deliver a small message before a large one
//   bytes 12..15  zero
//
// A client's hello introduces it, and the server's welcome answers:
//
//   bytes 16..23  the sender's number of the link
//   bytes 24..27  the largest message that the sender receives
//   bytes 28..31  size of the sender's address; 0 in a welcome
//   bytes 32..    the sender's address (fi_getname(3)), then its part of the
//                 greeting of the tcp driver (tcp/frame.h)
//
// The client's proof, which ends that greeting, follows. From then on messages
// of the kind kFrames carry the frames of the tcp driver (tcp/frame.h): each
// begins a frame or continues the last one, if that is larger than a message.
// The other kinds have no content.

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_WIRE_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_WIRE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::libfabric {

enum class MessageKind : uint8_t {
  kFrames = 1,
  kHello = 2,
  kWelcome = 3,
  kProof = 4,
  // Asks for a sign of life, and gives it.
  kPing = 5,
  kPong = 6,
  // The sender has closed the link.
  kGoodbye = 7,
};

inline constexpr size_t kMessageHeaderBytes = 16;
inline constexpr size_t kIntroductionBytes = 16;  // without the address
inline constexpr size_t kMaxFabricAddressBytes = 256;
inline constexpr size_t kMinReceiveBufferBytes = 4096;

struct MessageHeader {
  MessageKind kind = MessageKind::kFrames;
  uint64_t link = 0;  // below 2^56
  uint32_t sequence = 0;
};

// Writes kMessageHeaderBytes.
inline void EncodeMessageHeader(const MessageHeader& header, char* out) {
  static_assert(std::endian::native == std::endian::little);
  const uint64_t encoded = header.link | static_cast<uint64_t>(header.kind)
                                             << 56;
  const uint64_t sequence = header.sequence;
  std::memcpy(out, &encoded, 8);
  std::memcpy(out + 8, &sequence, 8);
}

// Reads kMessageHeaderBytes. Any bytes are allowed; the kind may be none.
inline MessageHeader DecodeMessageHeader(const char* bytes) {
  uint64_t encoded;
  MessageHeader header;
  std::memcpy(&encoded, bytes, 8);
  std::memcpy(&header.sequence, bytes + 8, 4);
  header.kind = static_cast<MessageKind>(encoded >> 56);
  header.link = encoded & ((uint64_t{1} << 56) - 1);
  return header;
}

// The content of a hello or a welcome.
struct Introduction {
  uint64_t link = 0;
  uint32_t receive_bytes = 0;
  absl::string_view address = {};
  absl::string_view greeting = {};
};

std::string EncodeIntroduction(const Introduction& introduction);

// Returns false if the bytes are no introduction. The strings refer to the
// bytes.
[[nodiscard]] bool DecodeIntroduction(absl::string_view bytes,
                                      Introduction& introduction);

// Addresses at which instances of the libfabric driver are reached, such as
// "libfabric:tcp:0200a4c17f000001": the provider, with "/msg" if endpoints are
// connected, and an endpoint's address in hexadecimal digits for each worker,
// separated by commas.

struct LibfabricAddress {
  std::string carrier;                      // as of LibfabricSettings
  std::vector<std::string> endpoints = {};  // at least one

  // Returns the endpoint to which a client's worker connects.
  const std::string& OfWorker(size_t worker) const {
    return endpoints[worker % endpoints.size()];
  }
};

std::string FormatAddress(const LibfabricAddress& address);

// The error quotes the address.
absl::StatusOr<LibfabricAddress> ParseAddress(absl::string_view address);

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_WIRE_H_
