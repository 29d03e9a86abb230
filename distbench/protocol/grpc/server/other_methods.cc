#include "distbench/protocol/grpc/server/other_methods.h"

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>

#include <utility>

#include "absl/status/statusor.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "glog/logging.h"

namespace distbench::protocol {
namespace {

// Concurrent handshakes, so that a client that is slow to take its answer does
// not hold up the others.
constexpr int kHandshakes = 16;

}  // namespace

// Answers one call after another.
class OtherMethods::Call final : private Completion {
 public:
  // Takes calls of a registered method, handshakes; if it is null, those of
  // all methods that are not registered.
  Call(OtherMethods& owner, grpc_server* server, void* method)
      : owner_(owner), server_(server), method_(method) {
    grpc_call_details_init(&details_);
    grpc_metadata_array_init(&metadata_);
  }
  ~Call() {
    Release();
    grpc_call_details_destroy(&details_);
    grpc_metadata_array_destroy(&metadata_);
  }

  void Accept();

 private:
  void OnComplete(bool ok, TransportEvents& events) override;
  void Reply();
  // `message` must have static lifetime.
  void Refuse(grpc_status_code code, const char* message);
  void StartReply(grpc_status_code code, grpc_slice* details);
  void Release();

  OtherMethods& owner_;
  grpc_server* const server_;
  void* const method_;
  bool is_replying_ = false;
  grpc_call* call_ = nullptr;
  grpc_call_details details_;
  grpc_byte_buffer* request_ = nullptr;
  grpc_byte_buffer* response_ = nullptr;
  grpc_metadata_array metadata_;
  gpr_timespec deadline_;
  int cancelled_ = 0;
};

void OtherMethods::Call::Accept() {
  is_replying_ = false;
  grpc_completion_queue* queue = owner_.queue_.get();
  Completion* const tag = this;
  const grpc_call_error error =
      method_ == nullptr
          ? grpc_server_request_call(server_, &call_, &details_, &metadata_,
                                     queue, queue, tag)
          : grpc_server_request_registered_call(server_, method_, &call_,
                                                &deadline_, &metadata_,
                                                &request_, queue, queue, tag);
  CHECK_EQ(error, GRPC_CALL_OK);
}

void OtherMethods::Call::OnComplete(bool ok, TransportEvents&) {
  if (ok && !is_replying_) return Reply();
  Release();
  if (is_replying_ && !owner_.closed_) return Accept();
  --owner_.active_;
}

void OtherMethods::Call::Reply() {
  if (method_ == nullptr) {
    return Refuse(GRPC_STATUS_UNIMPLEMENTED, "unknown method");
  }
  const absl::StatusOr<std::string> answer =
      AnswerHandshake(owner_.nonce_, CopyOf(request_));
  if (!answer.ok()) {
    return Refuse(GRPC_STATUS_INVALID_ARGUMENT, "malformed handshake");
  }
  grpc_slice slice =
      grpc_slice_from_copied_buffer(answer->data(), answer->size());
  response_ = grpc_raw_byte_buffer_create(&slice, 1);
  grpc_slice_unref(slice);
  StartReply(GRPC_STATUS_OK, nullptr);
}

void OtherMethods::Call::Refuse(grpc_status_code code, const char* message) {
  grpc_slice details = grpc_slice_from_static_string(message);
  StartReply(code, &details);
}

// Sends the status, and the response if there is one.
void OtherMethods::Call::StartReply(grpc_status_code code,
                                    grpc_slice* details) {
  is_replying_ = true;
  grpc_op operations[4] = {};
  operations[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  operations[1].op = GRPC_OP_RECV_CLOSE_ON_SERVER;
  operations[1].data.recv_close_on_server.cancelled = &cancelled_;
  operations[2].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
  operations[2].data.send_status_from_server.status = code;
  operations[2].data.send_status_from_server.status_details = details;
  operations[3].op = GRPC_OP_SEND_MESSAGE;
  operations[3].data.send_message.send_message = response_;
  CHECK_EQ(
      grpc_call_start_batch(call_, operations, response_ == nullptr ? 3 : 4,
                            static_cast<Completion*>(this), nullptr),
      GRPC_CALL_OK);
}

void OtherMethods::Call::Release() {
  if (request_ != nullptr) grpc_byte_buffer_destroy(request_);
  if (response_ != nullptr) grpc_byte_buffer_destroy(response_);
  if (call_ != nullptr) grpc_call_unref(call_);
  request_ = nullptr;
  response_ = nullptr;
  call_ = nullptr;
  grpc_call_details_destroy(&details_);
  grpc_call_details_init(&details_);
  metadata_.count = 0;
}

OtherMethods::OtherMethods(EventQueue& queue, std::string nonce)
    : queue_(queue), nonce_(std::move(nonce)), streaming_(queue) {}

OtherMethods::~OtherMethods() { CHECK(drained()); }

void OtherMethods::Serve(grpc_server* server, void* handshake_method) {
  AddCall(server, /*method=*/nullptr);
  for (int i = 0; i < kHandshakes; ++i) AddCall(server, handshake_method);
}

void OtherMethods::AddCall(grpc_server* server, void* method) {
  calls_.push_back(std::make_unique<Call>(*this, server, method));
  ++active_;
  calls_.back()->Accept();
}

void OtherMethods::Close() {
  closed_ = true;
  streaming_.Close();
}

}  // namespace distbench::protocol
