#include "distbench/protocol/grpc/client/client_stream.h"

#include <grpc/support/time.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/client/calls_in_flight.h"

namespace distbench::protocol {

void ClientStream::Open(EventQueue& queue) {
  ++counts_.opened;
  ClientStreamSide::Open(channel_.get(), queue, kGenericStreamMethod,
                         gpr_inf_future(GPR_CLOCK_MONOTONIC), end_);
  Receive(reply_, receive_);
  sender_.Open(call_);
}

void ClientStream::Send(ClientCall& call, uint64_t sequence) {
  ++accepted_;
  call.sent_ns = kNotSent;
  call.sent_bytes = sender_.Send(sequence, HeaderOf(call), call.request_bytes);
}

bool ClientStream::OnSend(uint64_t sequence) {
  Calls::Entry* entry;
  if (calls_.Find(sequence, entry) != Calls::Match::kFound) return false;
  entry->call->sent_ns = base::RealClock().MonotonicNs();
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

void ClientStream::OnReceived(bool, TransportEvents& events) {
  if (reply_.is_empty()) return;  // the stream ends
  Deliver(events);
  reply_.Clear();
  Receive(reply_, receive_);
}

void ClientStream::Deliver(TransportEvents& events) {
  payload::ResponseHeader header;
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
  ++answered_;
  ClientCall& call = *entry->call;
  calls_.Remove(*entry);
  call.done_ns = base::RealClock().MonotonicNs();
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

void ClientStream::OnStatus(bool, TransportEvents&) {
  ended_ = true;
  sender_.Drop();
}

void ClientStream::FinishIfDone() {
  const bool done = ended_ && operations_ == 0 && !sender_.is_sending();
  if (done && !std::exchange(done_, true)) listener_.OnEnded(*this);
}

std::string ClientStream::Error() const {
  const std::string reason =
      violation_.empty() ? ErrorOf(status(), status_message()) : violation_;
  return absl::StrCat("UNAVAILABLE: the stream to ", channel_.target(),
                      " ended: ", reason);
}

}  // namespace distbench::protocol
