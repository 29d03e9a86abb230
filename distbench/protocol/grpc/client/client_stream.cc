#include "distbench/protocol/grpc/client/client_stream.h"

#include <grpc/slice.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/client/calls_in_flight.h"
#include "glog/logging.h"

namespace distbench {

ClientStream::~ClientStream() {
  if (call_ == nullptr) return;
  grpc_metadata_array_destroy(&initial_metadata_);
  grpc_metadata_array_destroy(&trailing_metadata_);
  grpc_slice_unref(status_message_);
  grpc_call_unref(call_);
}

void ClientStream::Open(EventQueue& queue) {
  ++counts_.opened;
  grpc_metadata_array_init(&initial_metadata_);
  grpc_metadata_array_init(&trailing_metadata_);
  status_message_ = grpc_empty_slice();
  call_ = grpc_channel_create_call(
      channel_.get(), nullptr, GRPC_PROPAGATE_DEFAULTS, queue.get(),
      grpc_slice_from_static_string(kGenericStreamMethod), nullptr,
      gpr_inf_future(GPR_CLOCK_MONOTONIC), nullptr);
  StartEnd();
  Receive();
  sender_.Open(call_);
}

void ClientStream::StartEnd() {
  grpc_op operations[2] = {};
  operations[0].op = GRPC_OP_RECV_INITIAL_METADATA;
  operations[0].data.recv_initial_metadata.recv_initial_metadata =
      &initial_metadata_;
  operations[1].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  auto& end = operations[1].data.recv_status_on_client;
  end.trailing_metadata = &trailing_metadata_;
  end.status = &status_;
  end.status_details = &status_message_;
  Start(operations, end_);
}

void ClientStream::Receive() {
  grpc_op operation = {};
  operation.op = GRPC_OP_RECV_MESSAGE;
  operation.data.recv_message.recv_message = reply_.slot();
  Start({&operation, 1}, receive_);
}

void ClientStream::Start(absl::Span<const grpc_op> operations,
                         Completion& completion) {
  ++operations_;
  CHECK_EQ(grpc_call_start_batch(call_, operations.data(), operations.size(),
                                 &completion, nullptr),
           GRPC_CALL_OK);
}

void ClientStream::Send(ClientCall& call, uint64_t sequence) {
  ++accepted_;
  call.sent_ns = kNotSent;
  call.sent_bytes = sender_.Send(sequence, HeaderOf(call), call.request_bytes);
}

bool ClientStream::OnSend(uint64_t sequence) {
  Calls::Entry* entry;
  if (calls_.Find(sequence, entry) != Calls::Match::kFound) return false;
  entry->call->sent_ns = RealClock().MonotonicNs();
  return true;
}

void ClientStream::Retire() {
  retired_ = true;
  if (is_open() && !sender_.is_sending()) OnAllSent();
}

void ClientStream::OnAllSent() {
  if (retired_ && !half_closed_ && !ended_) HalfClose();
  FinishIfDone();
}

void ClientStream::HalfClose() {
  half_closed_ = true;
  grpc_op operations[2] = {};
  operations[0].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
  operations[1].op = GRPC_OP_SEND_INITIAL_METADATA;
  Start({operations, sender_.metadata_sent() ? 1u : 2u}, half_close_);
}

void ClientStream::OnReceived(TransportEvents& events) {
  if (reply_.is_empty()) return FinishOperation();  // the stream ends
  Deliver(events);
  reply_.Clear();
  --operations_;
  Receive();
}

void ClientStream::Deliver(TransportEvents& events) {
  ResponseHeader header;
  uint64_t sequence = 0;
  int64_t bytes = 0;
  if (!reply_.Decode(header, sequence, bytes)) {
    return Fail("a reply is malformed");
  }
  Calls::Entry* entry;
  const Calls::Match match = calls_.Find(sequence, entry);
  if (match == Calls::Match::kEnded) {
    ++counts_.late_replies;
    return;
  }
  if (match == Calls::Match::kUnknown || entry->owner != this) {
    return Fail("a reply to a call that was never made");
  }
  has_worked_ = true;
  ClientCall& call = *entry->call;
  calls_.Remove(*entry);
  call.done_ns = RealClock().MonotonicNs();
  call.received_bytes = bytes;
  call.responding_instance = header.server_instance;
  call.server_queue_ns = header.queue_ns;
  call.server_handler_ns = header.handler_ns;
  call.error = header.error_message;
  events.OnDone(&call);
}

void ClientStream::Fail(const char* violation) {
  violation_ = violation;
  Cancel();
}

void ClientStream::OnStatus(TransportEvents&) {
  ended_ = true;
  sender_.Drop();
  FinishOperation();
}

void ClientStream::FinishOperation() {
  --operations_;
  FinishIfDone();
}

void ClientStream::FinishIfDone() {
  const bool done = ended_ && operations_ == 0 && !sender_.is_sending();
  if (done && !std::exchange(done_, true)) listener_.OnEnded(*this);
}

std::string ClientStream::Error() const {
  const std::string reason = violation_.empty()
                                 ? ErrorOf(status_, ViewOf(status_message_))
                                 : violation_;
  return absl::StrCat("UNAVAILABLE: the stream to ", channel_.target(),
                      " ended: ", reason);
}

}  // namespace distbench
