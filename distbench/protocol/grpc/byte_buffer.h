// The messages of data RPCs as gRPC's callback API takes them. This is the
// counterpart of message_buffer.h, which is for the core API.

#ifndef DISTBENCH_PROTOCOL_GRPC_BYTE_BUFFER_H_
#define DISTBENCH_PROTOCOL_GRPC_BYTE_BUFFER_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"

namespace distbench {

// An outgoing message, whose payload refers to the payload slab.
class OutgoingByteBuffer {
 public:
  // Makes a message of target_bytes (see message_codec.h). Returns its size.
  // gRPC must be done with the message before.
  template <typename Header>
  int64_t Fill(const Header& header, int64_t target_bytes);

  const grpc::ByteBuffer* get() const { return &buffer_; }

 private:
  grpc::ByteBuffer buffer_;
  std::vector<grpc::Slice> slices_;  // kept to reuse its memory
};

// A message that has arrived, or none.
class IncomingByteBuffer {
 public:
  void Clear();

  // The buffer for gRPC's next message. Requires that there is no message.
  grpc::ByteBuffer* get() { return &buffer_; }

  int64_t size_bytes() const;

  // Reads the header. Its strings are valid until Clear(). False if there is no
  // message or it is malformed.
  template <typename Header>
  [[nodiscard]] bool Decode(Header& header);

 private:
  grpc::ByteBuffer buffer_;
  std::vector<grpc::Slice> slices_;
  std::vector<absl::string_view> views_;
  std::string scratch_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_BYTE_BUFFER_H_
