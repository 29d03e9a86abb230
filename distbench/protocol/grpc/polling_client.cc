#include "distbench/protocol/grpc/polling_client.h"

#include <grpc/slice.h>
#include <grpc/support/time.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/grpc/message_buffer.h"
#include "glog/logging.h"

namespace distbench {
namespace {

// gRPC shows no send queue: it takes any number of calls, at some kilobytes
// each. So many calls to one peer are taken for a full one.
constexpr int kMaxCallsPerPeer = 1 << 17;

RequestHeader HeaderOf(const ClientCall& call) {
  return {.rpc_index = call.rpc_index,
          .server_instance = call.server_instance,
          .warmup = call.warmup,
          .response_bytes = call.response_bytes,
          .processing_ns = call.processing_ns,
          .trace_context = call.trace_context};
}

gpr_timespec DeadlineOf(const ClientCall& call) {
  // gpr's monotonic clock is the system's.
  return call.deadline_ns == 0
             ? gpr_inf_future(GPR_CLOCK_MONOTONIC)
             : gpr_time_from_nanos(call.deadline_ns, GPR_CLOCK_MONOTONIC);
}

absl::string_view ViewOf(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)),
          GRPC_SLICE_LENGTH(slice)};
}

std::string ErrorOf(grpc_status_code code, absl::string_view message) {
  return absl::StrCat(
      absl::StatusCodeToString(static_cast<absl::StatusCode>(code)), ": ",
      message);
}

}  // namespace

// A ClientCall in flight, and all that gRPC needs for it: its operations, and
// where they leave their results.
class PollingClient::PendingCall final : public Completion {
 public:
  PendingCall();
  ~PendingCall();

  void Start(PollingClient& client, ClientCall& call, Peer& peer);
  void Cancel() { grpc_call_cancel(grpc_call_, nullptr); }

  // From here on the ClientCall is not touched any more.
  void Abandon() { call_ = nullptr; }

  // Completes the ClientCall, whose strings are valid until Release(). Returns
  // null if the call was abandoned.
  ClientCall* Finish(int64_t done_ns);
  void Release();

  void OnComplete(bool ok, TransportEvents& events) override;

  Peer& peer() const { return *peer_; }

  size_t position = 0;  // among the client's calls in flight

 private:
  static constexpr int kOperations = 6;

  PollingClient* client_ = nullptr;
  Peer* peer_ = nullptr;
  ClientCall* call_ = nullptr;
  grpc_call* grpc_call_ = nullptr;

  grpc_op operations_[kOperations] = {};
  OutgoingMessage request_;
  IncomingMessage response_;
  grpc_metadata_array initial_metadata_;
  grpc_metadata_array trailing_metadata_;
  grpc_status_code status_ = GRPC_STATUS_OK;
  grpc_slice status_message_ = grpc_empty_slice();
  std::string error_;
};

PollingClient::PendingCall::PendingCall() {
  grpc_metadata_array_init(&initial_metadata_);
  grpc_metadata_array_init(&trailing_metadata_);
  operations_[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  operations_[1].op = GRPC_OP_SEND_MESSAGE;
  operations_[1].data.send_message.send_message = request_.get();
  operations_[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
  operations_[3].op = GRPC_OP_RECV_INITIAL_METADATA;
  operations_[3].data.recv_initial_metadata.recv_initial_metadata =
      &initial_metadata_;
  operations_[4].op = GRPC_OP_RECV_MESSAGE;
  operations_[4].data.recv_message.recv_message = response_.slot();
  operations_[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  operations_[5].data.recv_status_on_client.trailing_metadata =
      &trailing_metadata_;
  operations_[5].data.recv_status_on_client.status = &status_;
  operations_[5].data.recv_status_on_client.status_details = &status_message_;
}

PollingClient::PendingCall::~PendingCall() {
  grpc_metadata_array_destroy(&initial_metadata_);
  grpc_metadata_array_destroy(&trailing_metadata_);
}

void PollingClient::PendingCall::Start(PollingClient& client, ClientCall& call,
                                       Peer& peer) {
  client_ = &client;
  peer_ = &peer;
  call_ = &call;
  call.transport_state = this;
  call.sent_bytes = request_.Fill(HeaderOf(call), call.request_bytes);
  grpc_call_ = peer.channel.MakeCall(client.queue_.get(), DeadlineOf(call));
  call.sent_ns = RealClock().MonotonicNs();
  CHECK_EQ(grpc_call_start_batch(grpc_call_, operations_, kOperations,
                                 static_cast<Completion*>(this), nullptr),
           GRPC_CALL_OK);
}

void PollingClient::PendingCall::OnComplete(bool, TransportEvents& events) {
  client_->OnComplete(*this, events);
}

ClientCall* PollingClient::PendingCall::Finish(int64_t done_ns) {
  if (call_ == nullptr) return nullptr;
  call_->done_ns = done_ns;
  call_->received_bytes = response_.size_bytes();
  call_->transport_state = nullptr;
  ResponseHeader header{.server_instance = ResponseHeader::kNoInstance};
  if (status_ != GRPC_STATUS_OK) {
    error_ = ErrorOf(status_, ViewOf(status_message_));
    call_->error = error_;
  } else if (!response_.Decode(header)) {
    error_ = ErrorOf(GRPC_STATUS_INTERNAL, "the response is malformed");
    call_->error = error_;
  } else {
    call_->error = header.error_message;
  }
  call_->responding_instance = header.server_instance;
  return call_;
}

void PollingClient::PendingCall::Release() {
  response_.Clear();
  grpc_slice_unref(status_message_);
  status_message_ = grpc_empty_slice();
  // The elements are the call's, the arrays are used again.
  initial_metadata_.count = 0;
  trailing_metadata_.count = 0;
  grpc_call_unref(grpc_call_);
}

PollingClient::PollingClient(EventQueue& queue) : queue_(queue) {}

PollingClient::~PollingClient() { CHECK(in_flight_.empty()); }

void PollingClient::SetChannels(std::vector<Channel> channels) {
  peers_.clear();
  for (Channel& channel : channels) {
    peers_.push_back({.channel = std::move(channel)});
  }
}

bool PollingClient::Start(ClientCall* call) {
  Peer& peer = peers_[call->peer];
  if (peer.in_flight == kMaxCallsPerPeer) return false;
  ++peer.in_flight;
  PendingCall* pending = pool_.Get();
  pending->position = in_flight_.size();
  in_flight_.push_back(pending);
  pending->Start(*this, *call, peer);
  if (closed_) pending->Cancel();
  return true;
}

void PollingClient::OnComplete(PendingCall& pending, TransportEvents& events) {
  ClientCall* call = pending.Finish(RealClock().MonotonicNs());
  --pending.peer().in_flight;
  in_flight_.back()->position = pending.position;
  std::swap(in_flight_[pending.position], in_flight_.back());
  in_flight_.pop_back();
  // Releasing first makes the next call use the same, warm memory; but what
  // holds the error has to stay.
  const bool failed = call != nullptr && !call->error.empty();
  if (!failed) Recycle(pending);
  if (call != nullptr) events.OnDone(call);
  if (failed) Recycle(pending);
}

void PollingClient::Recycle(PendingCall& pending) {
  pending.Release();
  pool_.Put(&pending);
}

void PollingClient::CancelAll() {
  for (PendingCall* pending : in_flight_) pending->Cancel();
}

void PollingClient::Close() {
  closed_ = true;
  CancelAll();
}

void PollingClient::Abandon() {
  for (PendingCall* pending : in_flight_) pending->Abandon();
  Close();
}

}  // namespace distbench
