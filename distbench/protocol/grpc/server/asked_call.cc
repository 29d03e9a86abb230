#include "distbench/protocol/grpc/server/asked_call.h"

#include <grpc/slice.h>

#include "glog/logging.h"

namespace distbench::protocol {

AskedCall::AskedCall(ServerPlace& place, void* method)
    : place_(place), method_(method) {
  grpc_call_details_init(&details_);
  grpc_metadata_array_init(&metadata_);
  reply_operations_[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  reply_operations_[1].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
  reply_operations_[2].op = GRPC_OP_RECV_CLOSE_ON_SERVER;
  reply_operations_[2].data.recv_close_on_server.cancelled = &cancelled_;
  reply_operations_[3].op = GRPC_OP_SEND_MESSAGE;
}

AskedCall::~AskedCall() {
  Release();  // of a call that was never answered
  grpc_call_details_destroy(&details_);
  grpc_metadata_array_destroy(&metadata_);
}

grpc_completion_queue* AskedCall::queue() const {
  return place_.callbacks == nullptr ? place_.queue.get()
                                     : place_.callbacks->get();
}

void* AskedCall::tag() {
  return place_.callbacks == nullptr ? static_cast<Completion*>(this)
                                     : Callback::tag();
}

void AskedCall::Ask() {
  ++place_.active;
  AskAgain();
}

void AskedCall::AskAgain() {
  state_ = State::kAsking;
  OnAsking();
  const grpc_call_error error =
      method_ == nullptr
          ? grpc_server_request_call(place_.server, &call_, &details_,
                                     &metadata_, queue(), queue(), tag())
          : grpc_server_request_registered_call(
                place_.server, method_, &call_, &deadline_, &metadata_,
                request_.slot(), queue(), queue(), tag());
  CHECK_EQ(error, GRPC_CALL_OK);
}

void AskedCall::OnComplete(bool ok, TransportEvents& events) {
  switch (state_) {
    case State::kHandedOver:
      return OnHandedOver(events);
    case State::kRetired:
      return Drop();
    default:
      return OnOperationOver(ok, &events);
  }
}

void AskedCall::OnOperationOver(bool ok, TransportEvents* events) {
  if (state_ == State::kAsking && ok) {
    state_ = State::kArrived;
    return OnArrived(events);
  }
  const bool was_asking = state_ == State::kAsking;
  Release();
  // gRPC refuses to give calls only when the server shuts down.
  if (was_asking || place_.closed) return Retire(events);
  AskAgain();
}

// Asks for no more calls.
void AskedCall::Retire(TransportEvents* events) {
  state_ = State::kRetired;
  events == nullptr ? place_.queue.Post(*this) : Drop();
}

void AskedCall::HandOver() {
  state_ = State::kHandedOver;
  place_.queue.Post(*this);
}

void AskedCall::Reply(grpc_byte_buffer* message) {
  auto& status = reply_operations_[1].data.send_status_from_server;
  status.status = GRPC_STATUS_OK;
  status.status_details = nullptr;
  reply_operations_[3].data.send_message.send_message = message;
  StartReply(kReplyOperations);
}

void AskedCall::Refuse(grpc_status_code code, const char* reason) {
  grpc_slice details = grpc_slice_from_static_string(reason);
  auto& status = reply_operations_[1].data.send_status_from_server;
  status.status = code;
  status.status_details = &details;
  StartReply(kReplyOperations - 1);  // all but the message
}

void AskedCall::StartReply(int operations) {
  state_ = State::kReplying;
  request_.Clear();
  CHECK_EQ(grpc_call_start_batch(call_, reply_operations_, operations, tag(),
                                 nullptr),
           GRPC_CALL_OK);
}

void AskedCall::Release() {
  request_.Clear();
  metadata_.count = 0;
  if (call_ != nullptr) grpc_call_unref(call_);
  call_ = nullptr;
  if (method_ == nullptr) {
    grpc_call_details_destroy(&details_);
    grpc_call_details_init(&details_);
  }
}

}  // namespace distbench::protocol
