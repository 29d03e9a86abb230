#include "distbench/protocol/grpc/wire/stream_side.h"

#include "glog/logging.h"

namespace distbench::protocol {

StreamSide::~StreamSide() {
  if (call_ != nullptr) grpc_call_unref(call_);
}

void StreamSide::Start(absl::Span<const grpc_op> operations,
                       Completion& completion) {
  ++operations_;
  CHECK_EQ(grpc_call_start_batch(call_, operations.data(), operations.size(),
                                 &completion, nullptr),
           GRPC_CALL_OK);
}

void StreamSide::Receive(IncomingMessage& message, Completion& completion) {
  grpc_op operation = {};
  operation.op = GRPC_OP_RECV_MESSAGE;
  operation.data.recv_message.recv_message = message.slot();
  Start({&operation, 1}, completion);
}

ClientStreamSide::~ClientStreamSide() {
  grpc_metadata_array_destroy(&initial_metadata_);
  grpc_metadata_array_destroy(&trailing_metadata_);
  grpc_slice_unref(status_message_);
}

void ClientStreamSide::Open(grpc_channel* channel, EventQueue& queue,
                            const char* method, gpr_timespec deadline,
                            Completion& end) {
  call_ = grpc_channel_create_call(
      channel, nullptr, GRPC_PROPAGATE_DEFAULTS, queue.get(),
      grpc_slice_from_static_string(method), nullptr, deadline, nullptr);
  grpc_op operations[2] = {};
  operations[0].op = GRPC_OP_RECV_INITIAL_METADATA;
  operations[0].data.recv_initial_metadata.recv_initial_metadata =
      &initial_metadata_;
  operations[1].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  auto& status = operations[1].data.recv_status_on_client;
  status.trailing_metadata = &trailing_metadata_;
  status.status = &status_;
  status.status_details = &status_message_;
  Start(operations, end);
}

void ServerStreamSide::Ask(grpc_server* server, void* method, EventQueue& queue,
                           Completion& accepted) {
  ++operations_;
  CHECK_EQ(grpc_server_request_registered_call(
               server, method, &call_, &deadline_, &metadata_, nullptr,
               queue.get(), queue.get(), &accepted),
           GRPC_CALL_OK);
}

void ServerStreamSide::AwaitEnd(Completion& end) {
  grpc_op operation = {};
  operation.op = GRPC_OP_RECV_CLOSE_ON_SERVER;
  operation.data.recv_close_on_server.cancelled = &cancelled_;
  Start({&operation, 1}, end);
}

}  // namespace distbench::protocol
