#include "distbench/products/external/calls/pending_call.h"

#include <grpc/byte_buffer.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/grpc/client/calls_in_flight.h"
#include "glog/logging.h"

namespace distbench::external {
namespace {

// The operations by their positions. The status comes last, because a stream's
// is asked for separately, behind its last response.
enum Position {
  kSendMetadata,
  kSend,
  kClose,
  kReceiveMetadata,
  kReceive,
  kEnd
};

}  // namespace

PendingCall::PendingCall() {
  grpc_metadata_array_init(&initial_metadata_);
  grpc_metadata_array_init(&trailing_metadata_);
  operations_[kSendMetadata].op = GRPC_OP_SEND_INITIAL_METADATA;
  operations_[kSend].op = GRPC_OP_SEND_MESSAGE;
  operations_[kClose].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
  operations_[kReceiveMetadata].op = GRPC_OP_RECV_INITIAL_METADATA;
  operations_[kReceiveMetadata].data.recv_initial_metadata = {
      &initial_metadata_};
  operations_[kReceive].op = GRPC_OP_RECV_MESSAGE;
  operations_[kReceive].data.recv_message = {response_.slot()};
  operations_[kEnd].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  operations_[kEnd].data.recv_status_on_client = {&trailing_metadata_, &status_,
                                                  &status_message_, nullptr};
}

PendingCall::~PendingCall() {
  grpc_metadata_array_destroy(&initial_metadata_);
  grpc_metadata_array_destroy(&trailing_metadata_);
}

void PendingCall::Start(protocol::ClientCall& call, RequestMaker* requests,
                        const protocol::Channel& channel,
                        grpc_completion_queue* queue, EndedCalls& ended) {
  call_ = &call;
  ended_ = &ended;
  responses_ = 0;
  received_bytes_ = 0;
  if (requests == nullptr) {
    return Fail(absl::InvalidArgumentError(
        absl::StrCat("RPC ", call.rpc_index, " has no external call")));
  }
  const absl::StatusOr<WireRequest*> made = requests->Next(request_);
  if (!made.ok()) return Fail(made.status());
  WireRequest& request = **made;
  grpc_slice message = request.message();
  request_buffer_ = grpc_raw_byte_buffer_create(&message, 1);
  operations_[kSend].data.send_message = {request_buffer_};
  operations_[kSendMetadata].data.send_initial_metadata.count =
      request.metadata().size();
  operations_[kSendMetadata].data.send_initial_metadata.metadata =
      request.metadata().data();
  call.sent_bytes = request.size_bytes();
  grpc_call_ = grpc_channel_create_call(
      channel.get(), nullptr, GRPC_PROPAGATE_DEFAULTS, queue,
      requests->method(), nullptr, protocol::DeadlineOf(call), nullptr);
  is_stream_ = requests->server_streams();
  reads_stream_ = is_stream_;
  call.sent_ns = base::NowNs();
  StartBatch(operations_, is_stream_ ? kOperations - 1 : kOperations);
}

void PendingCall::StartBatch(const grpc_op* operations, size_t count) {
  CHECK_EQ(
      grpc_call_start_batch(grpc_call_, operations, count,
                            static_cast<protocol::Completion*>(this), nullptr),
      GRPC_CALL_OK);
}

void PendingCall::Fail(const absl::Status& status) {
  status_ = static_cast<grpc_status_code>(status.code());
  const std::string message(status.message());
  status_message_ = grpc_slice_from_copied_string(message.c_str());
  call_->sent_ns = done_ns_ = base::NowNs();
  call_->sent_bytes = 0;
  ended_->OnEnded(*this);
}

void PendingCall::Cancel() {
  if (grpc_call_ != nullptr) grpc_call_cancel(grpc_call_, nullptr);
}

void PendingCall::OnComplete(bool /*ok*/,
                             protocol::TransportEvents& /*events*/) {
  const bool has_response = TakeResponse();
  if (reads_stream_) {
    reads_stream_ = has_response;
    return StartBatch(&operations_[has_response ? kReceive : kEnd], 1);
  }
  done_ns_ = base::NowNs();
  ended_->OnEnded(*this);
}

// Returns whether there was a response.
bool PendingCall::TakeResponse() {
  if (response_.is_empty()) return false;
  ++responses_;
  received_bytes_ += response_.size_bytes();
  response_.Clear();
  return true;
}

protocol::ClientCall& PendingCall::Finish() {
  call_->done_ns = done_ns_;
  call_->received_bytes = received_bytes_;
  call_->responding_instance = protocol::kNoInstance;
  error_.clear();
  if (status_ != GRPC_STATUS_OK) {
    error_ = protocol::ErrorOf(status_, protocol::ViewOf(status_message_));
  } else if (responses_ == 0 && !is_stream_) {
    error_ =
        protocol::ErrorOf(GRPC_STATUS_INTERNAL, "the server sent no response");
  } else {
    call_->responding_instance = call_->server_instance;
  }
  call_->error = error_;
  return *call_;
}

void PendingCall::Release() {
  grpc_slice_unref(status_message_);
  status_message_ = grpc_empty_slice();
  // The elements belong to the call; the arrays are used again.
  initial_metadata_.count = 0;
  trailing_metadata_.count = 0;
  request_.Clear();
  if (grpc_call_ == nullptr) return;
  grpc_byte_buffer_destroy(request_buffer_);
  grpc_call_unref(grpc_call_);
  grpc_call_ = nullptr;
}

}  // namespace distbench::external
