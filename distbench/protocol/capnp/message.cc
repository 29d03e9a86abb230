#include "distbench/protocol/capnp/message.h"

#include <capnp/orphan.h>

#include <cstring>

#include "absl/strings/string_view.h"
#include "distbench/payload/payload_slab.h"

namespace distbench {
namespace {

constexpr int64_t kWordBytes = sizeof(capnp::word);

// A reference takes a segment of its own, with pointers to it.
constexpr int64_t kMaxCopiedBytes = 4096;

bool IsReferred(int64_t payload_bytes) {
  return payload_bytes > kMaxCopiedBytes &&
         payload_bytes <= static_cast<int64_t>(kPayloadSlabBytes);
}

int64_t WordsOf(int64_t bytes) { return (bytes + kWordBytes - 1) / kWordBytes; }

void AddPayload(int64_t bytes, capnp_schema::Message::Builder message) {
  const absl::string_view slab = PayloadSlab();
  if (IsReferred(bytes)) {
    const auto* const payload = reinterpret_cast<const kj::byte*>(slab.data());
    message.adoptPayload(
        capnp::Orphanage::getForMessageContaining(message)
            .referenceExternalData(capnp::Data::Reader(payload, bytes)));
  } else if (bytes > 0) {
    std::memset(message.initPayload(bytes).begin(), slab.front(), bytes);
  }
}

}  // namespace

capnp::MessageSize CapnpSizeHint(const MessageLayout& layout) {
  // Two pointers, and two to a segment of the payload's own.
  constexpr int64_t kPointers = 4;
  const int64_t copied_bytes =
      IsReferred(layout.payload_bytes) ? 0 : layout.payload_bytes;
  const int64_t words = kPointers +
                        WordsOf(static_cast<int64_t>(layout.head_bytes)) +
                        WordsOf(copied_bytes);
  return {.wordCount = static_cast<uint64_t>(words), .capCount = 0};
}

template <typename Header>
void FillCapnpMessage(const Header& header, const MessageLayout& layout,
                      capnp_schema::Message::Builder message) {
  const capnp::Data::Builder head = message.initHead(layout.head_bytes);
  WriteHead(header, layout, head.asChars().begin());
  AddPayload(layout.payload_bytes, message);
}

template void FillCapnpMessage(const RequestHeader&, const MessageLayout&,
                               capnp_schema::Message::Builder);
template void FillCapnpMessage(const ResponseHeader&, const MessageLayout&,
                               capnp_schema::Message::Builder);

template <typename Header>
int64_t ReadCapnpMessage(capnp_schema::Message::Reader message, Header& header,
                         std::string& scratch) {
  // Each access is counted against the limit of ReaderOptions.
  const auto head = message.getHead().asChars();
  const auto payload_bytes = static_cast<int64_t>(message.getPayload().size());
  const auto size_bytes = static_cast<int64_t>(head.size()) + payload_bytes;
  const bool is_valid = head.size() <= kMaxCapnpHeadBytes &&
                        size_bytes <= kMaxCapnpMessageBytes &&
                        DecodeHead(absl::string_view(head.begin(), head.size()),
                                   payload_bytes, header, scratch);
  return is_valid ? size_bytes : -1;
}

template int64_t ReadCapnpMessage(capnp_schema::Message::Reader, RequestHeader&,
                                  std::string&);
template int64_t ReadCapnpMessage(capnp_schema::Message::Reader,
                                  ResponseHeader&, std::string&);

}  // namespace distbench
