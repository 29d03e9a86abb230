#include "distbench/protocol/grpc/client/streaming_calls.h"

#include <grpc/grpc.h>
#include <grpc/slice.h>

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/types/span.h"
#include "distbench/base/clock.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/client/calls_in_flight.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "distbench/protocol/streams.h"
#include "glog/logging.h"

namespace distbench {

// A call, from Open() until gRPC is done with it.
class StreamingCalls::Call final {
 public:
  Call(StreamingCalls& calls, ClientCall& client)
      : calls_(calls), client_(&client) {
    grpc_metadata_array_init(&initial_metadata_);
    grpc_metadata_array_init(&trailing_metadata_);
  }
  ~Call() {
    grpc_metadata_array_destroy(&initial_metadata_);
    grpc_metadata_array_destroy(&trailing_metadata_);
    grpc_slice_unref(status_message_);
    grpc_call_unref(call_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void Open(grpc_channel* channel);
  int64_t Write(int64_t bytes, bool last);
  void Cancel() { grpc_call_cancel(call_, nullptr); }
  void Abandon() { client_ = nullptr; }

  size_t position = 0;  // among the calls in flight

 private:
  // An operation in gRPC, whose end calls a method.
  template <void (Call::*method)(bool ok, TransportEvents& events)>
  struct Operation final : Completion {
    explicit Operation(Call& call) : call(call) {}
    void OnComplete(bool ok, TransportEvents& events) override {
      call.calls_.dead_.clear();
      (call.*method)(ok, events);
      --call.operations_;
      call.EndIfDone(events);
    }
    Call& call;
  };

  void Start(absl::Span<const grpc_op> operations, Completion& completion);
  void Receive();
  void OnWritten(bool ok, TransportEvents& events);
  void OnReceived(bool ok, TransportEvents& events);
  void Deliver(TransportEvents& events);
  void OnStatus(bool /*ok*/, TransportEvents& /*events*/) { ended_ = true; }
  void EndIfDone(TransportEvents& events);
  int64_t ReportedBlockedNs() const;

  StreamingCalls& calls_;
  ClientCall* client_;  // null once it is abandoned
  grpc_call* call_ = nullptr;
  int operations_ = 0;  // in gRPC
  bool metadata_sent_ = false;
  bool all_written_ = false;
  bool ended_ = false;  // the status has arrived
  OutgoingMessage request_;
  IncomingMessage response_;
  int instance_ = kNoInstance;
  std::string error_;  // what a response said, or what was wrong with it
  grpc_metadata_array initial_metadata_ = {};
  grpc_metadata_array trailing_metadata_ = {};
  grpc_status_code status_ = GRPC_STATUS_OK;
  grpc_slice status_message_ = grpc_empty_slice();

  Operation<&Call::OnWritten> write_{*this};
  Operation<&Call::OnReceived> receive_{*this};
  Operation<&Call::OnStatus> end_{*this};
};

void StreamingCalls::Call::Open(grpc_channel* channel) {
  call_ = grpc_channel_create_call(
      channel, nullptr, GRPC_PROPAGATE_DEFAULTS, calls_.queue_.get(),
      grpc_slice_from_static_string(kStreamingRpcMethod), nullptr,
      DeadlineOf(*client_), nullptr);
  client_->sent_ns = RealClock().MonotonicNs();
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
  Receive();
}

void StreamingCalls::Call::Start(absl::Span<const grpc_op> operations,
                                 Completion& completion) {
  ++operations_;
  CHECK_EQ(grpc_call_start_batch(call_, operations.data(), operations.size(),
                                 &completion, nullptr),
           GRPC_CALL_OK);
}

void StreamingCalls::Call::Receive() {
  grpc_op operation = {};
  operation.op = GRPC_OP_RECV_MESSAGE;
  operation.data.recv_message.recv_message = response_.slot();
  Start({&operation, 1}, receive_);
}

int64_t StreamingCalls::Call::Write(int64_t bytes, bool last) {
  RequestHeader header = HeaderOf(*client_);
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
  events.stream_events()->OnWritten(*client_, RealClock().MonotonicNs());
}

void StreamingCalls::Call::OnReceived(bool, TransportEvents& events) {
  if (response_.is_empty()) return;  // the stream ends
  if (client_ != nullptr) Deliver(events);
  response_.Clear();
  Receive();
}

void StreamingCalls::Call::Deliver(TransportEvents& events) {
  ResponseHeader header;
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
                                      RealClock().MonotonicNs());
  }
}

// Returns what the server reported, if it did.
int64_t StreamingCalls::Call::ReportedBlockedNs() const {
  for (size_t i = 0; i < trailing_metadata_.count; ++i) {
    const grpc_metadata& entry = trailing_metadata_.metadata[i];
    int64_t blocked_ns = 0;
    if (ViewOf(entry.key) == kBlockedKey &&
        absl::SimpleAtoi(ViewOf(entry.value), &blocked_ns) && blocked_ns >= 0) {
      return blocked_ns;
    }
  }
  return kNotReported;
}

void StreamingCalls::Call::EndIfDone(TransportEvents& events) {
  if (!ended_ || operations_ > 0) return;
  calls_.Remove(*this);
  if (client_ == nullptr) return;
  if (error_.empty() && status_ != GRPC_STATUS_OK) {
    error_ = ErrorOf(status_, ViewOf(status_message_));
  }
  ClientCall& client = *client_;
  client.transport_state = nullptr;
  client.done_ns = RealClock().MonotonicNs();
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

}  // namespace distbench
