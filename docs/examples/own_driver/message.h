// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The messages of the driver "prefixed", as bytes: without a socket, so that
// they can be tested, and fuzzed, by themselves. A message has
//
//   4 bytes   the size of its head
//   4 bytes   the size of its payload
//   8 bytes   the number of its call
//   head      what precedes the payload in a GenericRequestResponse of protobuf
//             (distbench/payload/message_codec.h)
//   payload   the same bytes in each message, which are skipped
//
// with little-endian numbers.

#ifndef OWN_DRIVER_MESSAGE_H_
#define OWN_DRIVER_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/write_queue.h"

namespace own_driver {

using distbench::protocol::StreamError;

struct Prefix {
  uint32_t head_bytes = 0;
  uint32_t payload_bytes = 0;
  uint64_t call_id = 0;
};
static_assert(sizeof(Prefix) == 16);

// Larger heads are refused: they are kept until they are complete.
inline constexpr size_t kMaxHeadBytes = 1 << 20;

// Queues a message of target_bytes, without its prefix, or as near as the
// header allows. Returns its size.
template <typename Header>
int64_t Append(distbench::protocol::WriteQueue& queue, uint64_t call_id,
               const Header& header, int64_t target_bytes) {
  const distbench::payload::MessageLayout layout =
      distbench::payload::LayOutMessage(header, target_bytes);
  const Prefix prefix = {
      .head_bytes = static_cast<uint32_t>(layout.head_bytes),
      .payload_bytes = static_cast<uint32_t>(layout.payload_bytes),
      .call_id = call_id};
  char* const out = queue.Reserve(sizeof(prefix) + layout.head_bytes);
  std::memcpy(out, &prefix, sizeof(prefix));
  distbench::payload::WriteHead(header, layout, out + sizeof(prefix));
  queue.Commit(sizeof(prefix) + layout.head_bytes, layout.payload_bytes);
  return layout.total_bytes();
}

// A message that has arrived.
struct Message {
  uint64_t call_id;
  absl::string_view head;  // valid while it is delivered
  int64_t payload_bytes;

  int64_t size() const {
    return static_cast<int64_t>(head.size()) + payload_bytes;
  }
};

// Finds the messages in a stream of bytes, however it is split into pieces. Any
// input is safe. After an error the stream is lost; call Reset().
class Decoder {
 public:
  // Takes the next piece. Calls
  //   StreamError on_message(const Message& message)
  // for each message that it completes, and stops at the first error.
  template <typename OnMessage>
  [[nodiscard]] StreamError Decode(absl::string_view bytes,
                                   const OnMessage& on_message) {
    while (!bytes.empty()) {
      StreamError error = Take(bytes);
      if (error != StreamError::kNone) return error;
      if (!is_complete_ || payload_left_ > 0) continue;
      error = on_message(
          Message{.call_id = prefix_.call_id,
                  .head = absl::string_view(kept_).substr(sizeof(prefix_)),
                  .payload_bytes = prefix_.payload_bytes});
      if (error != StreamError::kNone) return error;
      Reset();
    }
    return StreamError::kNone;
  }

  // Bytes that are still to be skipped.
  size_t payload_bytes_left() const { return payload_left_; }

  // Prepares for the beginning of another stream.
  void Reset() {
    kept_.clear();
    is_complete_ = false;
    payload_left_ = 0;
  }

 private:
  StreamError Take(absl::string_view& bytes);
  bool Keep(size_t wanted, absl::string_view& bytes);

  std::string kept_;          // prefix and head, so far
  Prefix prefix_;             // valid once kept_ has it
  bool is_complete_ = false;  // kept_ is; the payload follows
  size_t payload_left_ = 0;
};

}  // namespace own_driver

#endif  // OWN_DRIVER_MESSAGE_H_
