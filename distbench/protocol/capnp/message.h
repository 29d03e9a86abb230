// A GenericRequestResponse in the message of traffic.capnp.

#ifndef DISTBENCH_PROTOCOL_CAPNP_MESSAGE_H_
#define DISTBENCH_PROTOCOL_CAPNP_MESSAGE_H_

#include <capnp/common.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "distbench/payload/message_codec.h"
#include "distbench/protocol/capnp/traffic.capnp.h"

namespace distbench {

// Data of Cap'n Proto may have 512 MiB.
inline constexpr int64_t kMaxCapnpMessageBytes = 256 << 20;

// What precedes a payload. Its other fields take less than the rest.
inline constexpr size_t kMaxCapnpHeadBytes = 4 << 20;
inline constexpr size_t kMaxCapnpStringBytes = kMaxCapnpHeadBytes - 256;

// How much memory to reserve for a message with this layout.
capnp::MessageSize CapnpSizeHint(const MessageLayout& layout);

// Writes the message. Payloads are referred to if that is worthwhile and they
// fit the slab (payload_slab.h), else copied.
template <typename Header>
void FillCapnpMessage(const Header& header, const MessageLayout& layout,
                      capnp_schema::Message::Builder message);

// Reads a message. Returns its size, or -1 if it is malformed. The header's
// strings are valid as long as the message and `scratch`.
template <typename Header>
int64_t ReadCapnpMessage(capnp_schema::Message::Reader message, Header& header,
                         std::string& scratch);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_CAPNP_MESSAGE_H_
