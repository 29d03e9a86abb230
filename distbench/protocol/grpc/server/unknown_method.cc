#include "distbench/protocol/grpc/server/unknown_method.h"

#include <grpc/slice.h>

#include "glog/logging.h"

namespace distbench::protocol {

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
