// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/server/other_methods.h"

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"

namespace distbench::protocol {
namespace {

// Concurrent handshakes, so that a client that is slow to take its answer does
// not hold up the others.
constexpr int kHandshakes = 16;

class Handshake final : public AskedCall {
 public:
  Handshake(CallSource& source, void* method, std::string nonce)
      : AskedCall(source, method), nonce_(std::move(nonce)) {}
  ~Handshake() override { SetResponse(nullptr); }

 private:
  void OnArrived(TransportEvents* events) override;
  void SetResponse(grpc_byte_buffer* response);

  const std::string nonce_;
  grpc_byte_buffer* response_ = nullptr;  // the last one
};

void Handshake::OnArrived(TransportEvents*) {
  const absl::StatusOr<std::string> answer =
      AnswerHandshake(nonce_, CopyOf(*request().slot()));
  if (!answer.ok()) {
    return Refuse(GRPC_STATUS_INVALID_ARGUMENT, "malformed handshake");
  }
  grpc_slice slice =
      grpc_slice_from_copied_buffer(answer->data(), answer->size());
  SetResponse(grpc_raw_byte_buffer_create(&slice, 1));
  grpc_slice_unref(slice);
  Reply(response_);
}

void Handshake::SetResponse(grpc_byte_buffer* response) {
  if (response_ != nullptr) grpc_byte_buffer_destroy(response_);
  response_ = response;
}

class UnknownMethod final : public AskedCall {
 public:
  explicit UnknownMethod(CallSource& source) : AskedCall(source, nullptr) {}

 private:
  void OnArrived(TransportEvents*) override {
    Refuse(GRPC_STATUS_UNIMPLEMENTED, "unknown method");
  }
};

}  // namespace

void AnswerOtherMethods(CallSource& source, void* handshake_method,
                        const std::string& nonce) {
  source.Add(std::make_unique<UnknownMethod>(source));
  for (int i = 0; i < kHandshakes; ++i) {
    source.Add(std::make_unique<Handshake>(source, handshake_method, nonce));
  }
}

}  // namespace distbench::protocol
