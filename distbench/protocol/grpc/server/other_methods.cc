#include "distbench/protocol/grpc/server/other_methods.h"

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>

#include <utility>

#include "absl/status/statusor.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"

namespace distbench::protocol {
namespace {

// Concurrent handshakes, so that a client that is slow to take its answer does
// not hold up the others.
constexpr int kHandshakes = 16;

}  // namespace

// Handshakes, or calls of unknown methods, one after another.
class OtherMethods::Call final : public AskedCall {
 public:
  // `method` is that of handshakes, or null.
  Call(OtherMethods& owner, void* method)
      : AskedCall(owner.place_, method),
        owner_(owner),
        is_known_(method != nullptr) {}
  ~Call() { SetResponse(nullptr); }

 private:
  void OnArrived(TransportEvents* events) override;
  void SetResponse(grpc_byte_buffer* response);

  OtherMethods& owner_;
  const bool is_known_;
  grpc_byte_buffer* response_ = nullptr;  // the last one
};

void OtherMethods::Call::OnArrived(TransportEvents*) {
  if (!is_known_) return Refuse(GRPC_STATUS_UNIMPLEMENTED, "unknown method");
  const absl::StatusOr<std::string> answer =
      AnswerHandshake(owner_.nonce_, CopyOf(*request().slot()));
  if (!answer.ok()) {
    return Refuse(GRPC_STATUS_INVALID_ARGUMENT, "malformed handshake");
  }
  grpc_slice slice =
      grpc_slice_from_copied_buffer(answer->data(), answer->size());
  SetResponse(grpc_raw_byte_buffer_create(&slice, 1));
  grpc_slice_unref(slice);
  Reply(response_);
}

void OtherMethods::Call::SetResponse(grpc_byte_buffer* response) {
  if (response_ != nullptr) grpc_byte_buffer_destroy(response_);
  response_ = response;
}

OtherMethods::OtherMethods(ServerPlace& place, std::string nonce)
    : place_(place), nonce_(std::move(nonce)), streaming_(place.queue) {}

OtherMethods::~OtherMethods() = default;

void OtherMethods::Serve(void* handshake_method) {
  AddCall(/*method=*/nullptr);
  for (int i = 0; i < kHandshakes; ++i) AddCall(handshake_method);
}

void OtherMethods::AddCall(void* method) {
  calls_.push_back(std::make_unique<Call>(*this, method));
  calls_.back()->Ask();
}

}  // namespace distbench::protocol
