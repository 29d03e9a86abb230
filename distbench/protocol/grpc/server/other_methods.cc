#include "distbench/protocol/grpc/server/other_methods.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>

#include "absl/status/statusor.h"
#include "distbench/protocol/driver_parts.h"
#include "glog/logging.h"

namespace distbench::protocol {
namespace {

// Concurrent calls, so that a client that is slow to take its answer does not
// hold up the others.
constexpr int kCalls = 16;

}  // namespace

// Answers one call after another.
class HandshakeReplies::Call final : private Completion {
 public:
  explicit Call(HandshakeReplies& owner) : owner_(owner) {
    grpc_metadata_array_init(&metadata_);
  }
  ~Call() {
    Release();
    grpc_metadata_array_destroy(&metadata_);
  }

  void Accept();

 private:
  void OnComplete(bool ok, TransportEvents& events) override;
  void Reply();
  void StartReply(grpc_byte_buffer* message);
  void Release();

  HandshakeReplies& owner_;
  bool is_replying_ = false;
  grpc_call* call_ = nullptr;
  grpc_byte_buffer* request_ = nullptr;
  grpc_byte_buffer* response_ = nullptr;
  grpc_metadata_array metadata_;
  gpr_timespec deadline_;
  int cancelled_ = 0;
};

void HandshakeReplies::Call::Accept() {
  is_replying_ = false;
  grpc_completion_queue* queue = owner_.queue_->get();
  CHECK_EQ(grpc_server_request_registered_call(
               owner_.server_, owner_.method_, &call_, &deadline_, &metadata_,
               &request_, queue, queue, static_cast<Completion*>(this)),
           GRPC_CALL_OK);
}

void HandshakeReplies::Call::OnComplete(bool ok, TransportEvents&) {
  if (ok && !is_replying_) return Reply();
  Release();
  if (is_replying_ && !owner_.closed_) return Accept();
  --owner_.active_;
}

void HandshakeReplies::Call::Reply() {
  is_replying_ = true;
  std::string request;
  grpc_byte_buffer_reader reader;
  if (request_ != nullptr && grpc_byte_buffer_reader_init(&reader, request_)) {
    const grpc_slice slice = grpc_byte_buffer_reader_readall(&reader);
    request.assign(reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)),
                   GRPC_SLICE_LENGTH(slice));
    grpc_slice_unref(slice);
    grpc_byte_buffer_reader_destroy(&reader);
  }
  const absl::StatusOr<std::string> answer =
      AnswerHandshake(owner_.nonce_, request);
  if (!answer.ok()) return StartReply(nullptr);
  grpc_slice slice =
      grpc_slice_from_copied_buffer(answer->data(), answer->size());
  response_ = grpc_raw_byte_buffer_create(&slice, 1);
  grpc_slice_unref(slice);
  StartReply(response_);
}

// Sends a message, or a refusal if there is none.
void HandshakeReplies::Call::StartReply(grpc_byte_buffer* message) {
  grpc_slice details = grpc_slice_from_static_string("malformed handshake");
  grpc_op operations[4] = {};
  operations[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  operations[1].op = GRPC_OP_RECV_CLOSE_ON_SERVER;
  operations[1].data.recv_close_on_server.cancelled = &cancelled_;
  operations[2].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
  auto& status = operations[2].data.send_status_from_server;
  status.status =
      message == nullptr ? GRPC_STATUS_INVALID_ARGUMENT : GRPC_STATUS_OK;
  status.status_details = message == nullptr ? &details : nullptr;
  operations[3].op = GRPC_OP_SEND_MESSAGE;
  operations[3].data.send_message.send_message = message;
  CHECK_EQ(grpc_call_start_batch(call_, operations, message == nullptr ? 3 : 4,
                                 static_cast<Completion*>(this), nullptr),
           GRPC_CALL_OK);
}

void HandshakeReplies::Call::Release() {
  if (request_ != nullptr) grpc_byte_buffer_destroy(request_);
  if (response_ != nullptr) grpc_byte_buffer_destroy(response_);
  if (call_ != nullptr) grpc_call_unref(call_);
  request_ = nullptr;
  response_ = nullptr;
  call_ = nullptr;
  metadata_.count = 0;
}

HandshakeReplies::HandshakeReplies(std::string nonce)
    : nonce_(std::move(nonce)) {}

HandshakeReplies::~HandshakeReplies() = default;

void HandshakeReplies::Serve(grpc_server* server, void* method,
                             EventQueue& queue) {
  server_ = server;
  method_ = method;
  queue_ = &queue;
  for (int i = 0; i < kCalls; ++i) {
    calls_.push_back(std::make_unique<Call>(*this));
    ++active_;
    calls_.back()->Accept();
  }
}

UnknownMethodReplies::UnknownMethodReplies() {
  grpc_call_details_init(&details_);
  grpc_metadata_array_init(&metadata_);
}

UnknownMethodReplies::~UnknownMethodReplies() {
  grpc_call_details_destroy(&details_);
  grpc_metadata_array_destroy(&metadata_);
}

void UnknownMethodReplies::Serve(grpc_server* server, EventQueue& queue) {
  server_ = server;
  queue_ = &queue;
  Accept();
}

void UnknownMethodReplies::Accept() {
  state_ = State::kAccepting;
  CHECK_EQ(grpc_server_request_call(server_, &call_, &details_, &metadata_,
                                    queue_->get(), queue_->get(),
                                    static_cast<Completion*>(this)),
           GRPC_CALL_OK);
}

void UnknownMethodReplies::Reply() {
  state_ = State::kReplying;
  grpc_slice message = grpc_slice_from_static_string("unknown method");
  grpc_op operations[3] = {};
  operations[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  operations[1].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
  operations[1].data.send_status_from_server.status = GRPC_STATUS_UNIMPLEMENTED;
  operations[1].data.send_status_from_server.status_details = &message;
  operations[2].op = GRPC_OP_RECV_CLOSE_ON_SERVER;
  operations[2].data.recv_close_on_server.cancelled = &cancelled_;
  CHECK_EQ(grpc_call_start_batch(call_, operations, 3,
                                 static_cast<Completion*>(this), nullptr),
           GRPC_CALL_OK);
}

void UnknownMethodReplies::OnComplete(bool ok, TransportEvents&) {
  if (state_ == State::kAccepting && ok) return Reply();
  if (state_ == State::kReplying) {
    grpc_call_unref(call_);
    grpc_call_details_destroy(&details_);
    grpc_call_details_init(&details_);
    metadata_.count = 0;
    if (!closed_) return Accept();
  }
  state_ = State::kIdle;
}

}  // namespace distbench::protocol
