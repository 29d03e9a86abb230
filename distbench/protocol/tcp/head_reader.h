#ifndef DISTBENCH_PROTOCOL_TCP_HEAD_READER_H_
#define DISTBENCH_PROTOCOL_TCP_HEAD_READER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"

namespace distbench {

// Reads the heads of one connection's messages. Most heads equal the one
// before, so comparing the bytes is usually enough. Not thread-safe.
template <typename Header>
class HeadReader {
 public:
  // As DecodeHead(). Returns null if the message is malformed. The result is
  // valid until the next call; its strings also require `head` to stay valid.
  const Header* Read(absl::string_view head, int64_t payload_bytes) {
    const bool is_same = payload_bytes == payload_bytes_ && head == head_;
    return is_same || Decode(head, payload_bytes) ? &header_ : nullptr;
  }

 private:
  // Stands for no message.
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
    // The strings point into this head, so the next one cannot share them.
    if (HasStrings(header_)) return true;
    head_.assign(head.data(), head.size());
    payload_bytes_ = payload_bytes;
    return true;
  }

  // The last head, if later ones can be compared with it.
  std::string head_;
  int64_t payload_bytes_ = kNone;

  Header header_;
  std::string scratch_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_HEAD_READER_H_
