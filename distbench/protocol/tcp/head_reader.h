#ifndef DISTBENCH_PROTOCOL_TCP_HEAD_READER_H_
#define DISTBENCH_PROTOCOL_TCP_HEAD_READER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"

namespace distbench {

// Reads the heads of one connection's messages. Most say the same as the one
// before: then to compare them is enough. Not thread-safe.
template <typename Header>
class HeadReader {
 public:
  // As DecodeHead(). What is returned is valid until the next call, null if the
  // message is malformed; its strings are valid as long as `head`, too.
  const Header* Read(absl::string_view head, int64_t payload_bytes) {
    const bool is_same = payload_bytes == payload_bytes_ && head == head_;
    return is_same || Decode(head, payload_bytes) ? &header_ : nullptr;
  }

 private:
  // Of no message.
  static constexpr int64_t kNone = -1;

  static bool HasStrings(const RequestHeader& header) {
    return !header.trace_context.empty();
  }
  static bool HasStrings(const ResponseHeader& header) {
    return !header.error_message.empty();
  }

  bool Decode(absl::string_view head, int64_t payload_bytes) {
    payload_bytes_ = kNone;
    if (!DecodeHead(head, payload_bytes, header_, scratch_)) return false;
    // Strings are where this head is, not where the next one will be.
    if (HasStrings(header_)) return true;
    head_.assign(head.data(), head.size());
    payload_bytes_ = payload_bytes;
    return true;
  }

  // The last one that was read, if it can be compared with.
  std::string head_;
  int64_t payload_bytes_ = kNone;

  Header header_;
  std::string scratch_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_HEAD_READER_H_
