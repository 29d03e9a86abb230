// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/server/asked_call.h"

#include <grpc/slice.h>

#include <memory>
#include <utility>

#include "glog/logging.h"

namespace distbench::protocol {

CallSource::~CallSource() { CHECK(over()); }

void CallSource::Add(std::unique_ptr<AskedCall> owned) {
  AskedCall& call = *owned;
  live_.fetch_add(1, std::memory_order_relaxed);
  {
    const absl::MutexLock lock(&mutex_);
    calls_.push_back(std::move(owned));
  }
  call.Ask();
}

void CallSource::OnRetired() {
  if (live_.fetch_sub(1, std::memory_order_release) != 1) return;
  // Other workers may wait for it, without an event of their own.
  for (EventQueue* worker : workers_) worker->Wake();
}

AskedCall::AskedCall(CallSource& source, void* method)
    : source_(source), method_(method) {
  grpc_call_details_init(&details_);
  grpc_metadata_array_init(&metadata_);
  reply_operations_[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  reply_operations_[1].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
  reply_operations_[2].op = GRPC_OP_RECV_CLOSE_ON_SERVER;
  reply_operations_[2].data.recv_close_on_server.cancelled = &cancelled_;
  reply_operations_[3].op = GRPC_OP_SEND_MESSAGE;
}

AskedCall::~AskedCall() {
  if (call_ != nullptr) Release();  // it was abandoned
  grpc_call_details_destroy(&details_);
  grpc_metadata_array_destroy(&metadata_);
}

void* AskedCall::tag() {
  return source_.by_callback() ? Callback::tag()
                               : static_cast<Completion*>(this);
}

void AskedCall::Ask() {
  state_ = State::kAsking;
  OnAsking();
  grpc_completion_queue* const queue = source_.queue();
  const grpc_call_error error =
      method_ == nullptr
          ? grpc_server_request_call(source_.server_, &call_, &details_,
                                     &metadata_, queue, queue, tag())
          : grpc_server_request_registered_call(
                source_.server_, method_, &call_, &deadline_, &metadata_,
                request_.slot(), queue, queue, tag());
  CHECK_EQ(error, GRPC_CALL_OK);
}

void AskedCall::OnComplete(bool ok, TransportEvents& events) {
  switch (state_) {
    case State::kHandedOver:
      return OnHandedOver(events);
    case State::kRetired:
      return source_.OnRetired();
    default:
      return OnOperationOver(ok, &events);
  }
}

void AskedCall::OnOperationOver(bool ok, TransportEvents* events) {
  if (state_ == State::kAsking) {
    // gRPC refuses to give calls only when the server shuts down, and then also
    // those that are asked for later. (C++ servers of gRPC rely on that, too.)
    if (!ok) return Retire(events);
    state_ = State::kArrived;
    return OnArrived(events);
  }
  Release();
  Ask();
}

void AskedCall::Retire(TransportEvents* events) {
  state_ = State::kRetired;
  // A thread of gRPC may not count this: who destroys the queues would not wait
  // for it.
  events == nullptr ? source_.workers_.front()->Post(*this)
                    : source_.OnRetired();
}

void AskedCall::HandOver(EventQueue& worker) {
  state_ = State::kHandedOver;
  worker.Post(*this);
}

void AskedCall::Abandon() {
  state_ = State::kRetired;
  source_.OnRetired();
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
  metadata_.count = 0;
  grpc_call_unref(call_);
  call_ = nullptr;
  if (method_ == nullptr) {
    grpc_call_details_destroy(&details_);
    grpc_call_details_init(&details_);
  }
}

}  // namespace distbench::protocol
