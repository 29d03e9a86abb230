// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The messages of RPCs as gRPC sends them in the DATA frames of HTTP/2: five
// bytes (0, and the message's size in network byte order), then the message.
// Payload bytes are neither copied nor kept.

#ifndef DISTBENCH_PRODUCTS_HTTP2_MESSAGE_H_
#define DISTBENCH_PRODUCTS_HTTP2_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"

namespace distbench::http2 {

inline constexpr size_t kMessagePrefixBytes = 5;

// A message to be sent, piece by piece. Reuses its memory.
class Http2Output {
 public:
  // Takes a message of target_bytes (see message_codec.h) in place of any
  // earlier one. Returns the message's size.
  template <typename Header>
  int64_t Fill(const Header& header, int64_t target_bytes);

  // Same, with the bytes of a message without payload.
  void FillWith(absl::string_view message);

  void Clear();

  // Bytes that have not been taken, with the prefix.
  int64_t bytes_left() const {
    return static_cast<int64_t>(head_.size() - taken_) + payload_left_;
  }

  // Takes up to max_bytes, of which the first are returned, and the others are
  // payload.
  struct Piece {
    absl::string_view head;  // valid until the next Fill() or Clear()
    int64_t payload_bytes = 0;
  };
  Piece Take(int64_t max_bytes);

 private:
  char* StartMessage(size_t head_bytes, int64_t payload_bytes);

  std::string head_;  // with the prefix
  size_t taken_ = 0;  // of head_
  int64_t payload_left_ = 0;
};

// A message that arrives, piece by piece. Any input is safe. Reuses its memory.
class Http2Input {
 public:
  // Messages that do not end with their payload are kept as a whole. They may
  // have this size, as may the bytes before a payload.
  static constexpr size_t kMaxKeptBytes = 4 << 20;

  // Expects another message, and keeps nothing of this one but memory, if that
  // is not much.
  void Clear();

  // Takes no more of the message, which is not valid any more.
  void Refuse();

  // Takes the next bytes. False if this is not one valid message; then it stays
  // false.
  bool Receive(absl::string_view bytes);

  // Whether there is a whole message.
  bool is_complete() const {
    return is_valid_ && prefix_bytes_ == kMessagePrefixBytes &&
           received_ == size_;
  }

  // How much has been received, with the prefix.
  int64_t received_bytes() const {
    return received_ + static_cast<int64_t>(prefix_bytes_);
  }

  // The size of the message; valid once it is complete.
  int64_t size_bytes() const { return size_; }

  // The message without its payload; valid until Clear(). Until it is complete
  // it may have some of the payload.
  absl::string_view kept() const { return kept_; }

  // How much is kept, with what Decode() has put together.
  int64_t kept_bytes() const {
    return static_cast<int64_t>(kept_.size() + scratch_.size());
  }

  // Reads the header of a complete message. Its strings are valid until
  // Clear(). False if the message is malformed.
  template <typename Header>
  [[nodiscard]] bool Decode(Header& header);

 private:
  bool TakePrefix(absl::string_view& bytes);
  bool KeepHead(absl::string_view bytes);

  unsigned char prefix_[kMessagePrefixBytes];
  size_t prefix_bytes_ = 0;
  int64_t size_ = 0;
  int64_t received_ = 0;
  bool is_valid_ = true;
  bool has_head_ = false;       // the rest is payload
  size_t next_look_bytes_ = 0;  // when to look for the head's end again
  std::string kept_;
  std::string scratch_;
};

// The header fields with which gRPC says when a request's time is up and how an
// RPC has ended.

// gRPC's status codes, as far as they are sent.
inline constexpr int kGrpcOk = 0;
inline constexpr int kGrpcInvalidArgument = 3;
inline constexpr int kGrpcUnimplemented = 12;
inline constexpr int kGrpcInternal = 13;

// Returns the value of grpc-timeout for a duration, rounded up to what it can
// express: microseconds up to 100 s, then milliseconds up to a day, then
// seconds up to three years, the maximum. Times in the past count as 1 us.
std::string GrpcTimeout(int64_t timeout_ns);

// Returns the text of grpc-message, which is percent-encoded. What is no valid
// encoding stays as it is.
std::string DecodeGrpcMessage(absl::string_view field);

// Returns why an RPC has failed, as "CODE_NAME: message": from the fields
// :status, grpc-status and grpc-message of a response that is no success, or
// whose message is missing or malformed. Fields that were not sent are empty.
std::string ErrorOfResponse(absl::string_view http_status,
                            absl::string_view grpc_status,
                            absl::string_view grpc_message);

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_MESSAGE_H_
