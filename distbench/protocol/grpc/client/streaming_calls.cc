// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/client/streaming_calls.h"

#include <grpc/grpc.h>

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "distbench/base/clock.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/client/call_parts.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "distbench/protocol/grpc/wire/stream_side.h"
#include "distbench/protocol/streams.h"
#include "glog/logging.h"

namespace distbench::protocol {

// A call, from Open() until gRPC is done with it.
class StreamingCalls::Call final : public ClientStreamSide {
 public:
  Call(StreamingCalls& calls, ClientCall& client)
      : calls_(calls), client_(&client) {}

  void Open(grpc_channel* channel);
  int64_t Write(int64_t bytes, bool last);
  void Abandon() { client_ = nullptr; }

  size_t position = 0;  // among the calls in flight

 private:
  // StreamSide.
  void OnOperationOver(TransportEvents& events) override;

  void OnWritten(bool ok, TransportEvents& events);
  void OnReceived(bool ok, TransportEvents& events);
  void Deliver(TransportEvents& events);
  void OnStatus(bool /*ok*/, TransportEvents& /*events*/) { ended_ = true; }
  int64_t ReportedBlockedNs() const;

  StreamingCalls& calls_;
  ClientCall* client_;  // null once it is abandoned
  bool metadata_sent_ = false;
  bool all_written_ = false;
  bool ended_ = false;  // the status has arrived
  OutgoingMessage request_;
  IncomingMessage response_;
  int instance_ = kNoInstance;
  std::string error_;  // what a response said, or what was wrong with it

  Operation<Call, &Call::OnWritten> write_{*this};
  Operation<Call, &Call::OnReceived> receive_{*this};
  Operation<Call, &Call::OnStatus> end_{*this};
};

void StreamingCalls::Call::Open(grpc_channel* channel) {
  ClientStreamSide::Open(channel, calls_.queue_, kStreamingRpcMethod,
                         DeadlineOf(*client_), end_);
  client_->sent_ns = base::RealClock().MonotonicNs();
  Receive(response_, receive_);
}

int64_t StreamingCalls::Call::Write(int64_t bytes, bool last) {
  payload::RequestHeader header = HeaderOf(*client_);
  if (metadata_sent_) header.trace_context = {};
  const int64_t written = request_.Fill(header, bytes);
  all_written_ = last;
  grpc_op operations[3] = {};
  size_t count = 0;
  if (!std::exchange(metadata_sent_, true)) {
    operations[count++].op = GRPC_OP_SEND_INITIAL_METADATA;
  }
  operations[count].op = GRPC_OP_SEND_MESSAGE;
  operations[count++].data.send_message.send_message = request_.get();
  if (last) operations[count++].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
  Start({operations, count}, write_);
  return written;
}

// A write that fails is followed by the status.
void StreamingCalls::Call::OnWritten(bool ok, TransportEvents& events) {
  if (!ok || ended_ || all_written_ || client_ == nullptr) return;
  events.stream_events()->OnWritten(*client_, base::RealClock().MonotonicNs());
}

void StreamingCalls::Call::OnReceived(bool, TransportEvents& events) {
  if (response_.is_empty()) return;  // the stream ends
  if (client_ != nullptr) Deliver(events);
  response_.Clear();
  Receive(response_, receive_);
}

void StreamingCalls::Call::Deliver(TransportEvents& events) {
  payload::ResponseHeader header;
  if (!response_.Decode(header)) {
    error_ = ErrorOf(GRPC_STATUS_INTERNAL, "a response is malformed");
    Cancel();
    return;
  }
  instance_ = header.server_instance;
  if (!header.error_message.empty()) {
    error_ = std::string(header.error_message);
  } else if (error_.empty()) {
    events.stream_events()->OnMessage(*client_, response_.size_bytes(),
                                      base::RealClock().MonotonicNs());
  }
}

// Returns what the server reported, if it did.
int64_t StreamingCalls::Call::ReportedBlockedNs() const {
  for (const grpc_metadata& entry : trailing_metadata()) {
    int64_t blocked_ns = 0;
    if (ViewOf(entry.key) == kBlockedKey &&
        absl::SimpleAtoi(ViewOf(entry.value), &blocked_ns) && blocked_ns >= 0) {
      return blocked_ns;
    }
  }
  return kNotReported;
}

void StreamingCalls::Call::OnOperationOver(TransportEvents& events) {
  calls_.dead_.clear();
  if (!ended_ || operations_ > 0) return;
  calls_.Remove(*this);
  if (client_ == nullptr) return;
  if (error_.empty() && status() != GRPC_STATUS_OK) {
    error_ = ErrorOf(status(), status_message());
  }
  ClientCall& client = *client_;
  client.transport_state = nullptr;
  client.done_ns = base::RealClock().MonotonicNs();
  client.responding_instance = instance_;
  client.server_queue_ns = client.server_handler_ns = kNotReported;
  client.error = error_;
  events.stream_events()->OnDone(&client, ReportedBlockedNs());
}

StreamingCalls::StreamingCalls(EventQueue& queue) : queue_(queue) {}

StreamingCalls::~StreamingCalls() { CHECK(in_flight_.empty()); }

void StreamingCalls::SetChannels(
    const std::vector<std::vector<Channel>>& channels) {
  peers_.clear();
  for (const std::vector<Channel>& of_peer : channels) {
    Peer& peer = peers_.emplace_back();
    for (const Channel& channel : of_peer) {
      peer.channels.push_back(channel.get());
    }
  }
}

void StreamingCalls::Open(ClientCall& client) {
  Peer& peer = peers_[client.peer];
  grpc_channel* const channel = peer.channels[peer.next];
  peer.next = (peer.next + 1) % peer.channels.size();
  auto owned = std::make_unique<Call>(*this, client);
  Call& call = *owned;
  call.position = in_flight_.size();
  in_flight_.push_back(std::move(owned));
  client.transport_state = &call;
  call.Open(channel);
  if (closed_) call.Cancel();
}

int64_t StreamingCalls::Write(ClientCall& call, int64_t bytes, bool last) {
  return static_cast<Call*>(call.transport_state)->Write(bytes, last);
}

void StreamingCalls::Cancel(ClientCall& call) {
  static_cast<Call*>(call.transport_state)->Cancel();
}

void StreamingCalls::CancelAll() {
  for (const auto& call : in_flight_) call->Cancel();
}

void StreamingCalls::Close() {
  closed_ = true;
  CancelAll();
}

void StreamingCalls::Abandon() {
  for (const auto& call : in_flight_) call->Abandon();
  Close();
}

void StreamingCalls::Remove(Call& call) {
  in_flight_.back()->position = call.position;
  std::swap(in_flight_[call.position], in_flight_.back());
  dead_.push_back(std::move(in_flight_.back()));
  in_flight_.pop_back();
}

}  // namespace distbench::protocol
