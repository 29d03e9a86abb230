#include "distbench/protocol/grpc/client/unary_clients.h"

#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/client/client_side.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "glog/logging.h"

namespace distbench::protocol {

gpr_timespec DeadlineOf(const ClientCall& call) {
  // gpr's monotonic clock is the system's monotonic clock.
  return call.deadline_ns == 0
             ? gpr_inf_future(GPR_CLOCK_MONOTONIC)
             : gpr_time_from_nanos(call.deadline_ns, GPR_CLOCK_MONOTONIC);
}

std::string ErrorOf(grpc_status_code code, absl::string_view message) {
  return absl::StrCat(
      absl::StatusCodeToString(static_cast<absl::StatusCode>(code)), ": ",
      message);
}

namespace {

// A call's operations and their results.
class PollingCall final : public Completion {
 public:
  using Calls = CallsInFlight<PollingCall>;
  using Connection = Channel;

  PollingCall();
  ~PollingCall();

  void Start(Calls& calls, ClientCall& call, Channel& channel);
  void Cancel() { grpc_call_cancel(grpc_call_, nullptr); }
  ClientCall& Finish();
  void Release();

  void OnComplete(bool, TransportEvents& events) override {
    done_ns_ = base::RealClock().MonotonicNs();
    calls_->OnEnd(*this, events);
  }

  int peer = 0;
  size_t position = 0;
  bool abandoned = false;
  std::shared_ptr<Connection> kept;

 private:
  static constexpr int kOperations = 6;

  Calls* calls_ = nullptr;
  ClientCall* call_ = nullptr;
  grpc_call* grpc_call_ = nullptr;

  grpc_op operations_[kOperations] = {};
  OutgoingMessage request_;
  IncomingMessage response_;
  grpc_metadata_array initial_metadata_;
  grpc_metadata_array trailing_metadata_;
  grpc_status_code status_ = GRPC_STATUS_OK;
  grpc_slice status_message_ = grpc_empty_slice();
  int64_t done_ns_ = 0;
  std::string error_;
};

PollingCall::PollingCall() {
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

PollingCall::~PollingCall() {
  grpc_metadata_array_destroy(&initial_metadata_);
  grpc_metadata_array_destroy(&trailing_metadata_);
}

void PollingCall::Start(Calls& calls, ClientCall& call, Channel& channel) {
  calls_ = &calls;
  call_ = &call;
  call.sent_bytes = request_.Fill(HeaderOf(call), call.request_bytes);
  grpc_call_ = channel.MakeCall(calls.queue().get(), DeadlineOf(call));
  call.sent_ns = base::RealClock().MonotonicNs();
  CHECK_EQ(grpc_call_start_batch(grpc_call_, operations_, kOperations,
                                 static_cast<Completion*>(this), nullptr),
           GRPC_CALL_OK);
}

ClientCall& PollingCall::Finish() {
  call_->done_ns = done_ns_;
  ReadEnd(status_, ViewOf(status_message_), response_, error_, *call_);
  return *call_;
}

void PollingCall::Release() {
  response_.Clear();
  grpc_slice_unref(status_message_);
  status_message_ = grpc_empty_slice();
  // The elements belong to the call; the arrays are reused.
  initial_metadata_.count = 0;
  trailing_metadata_.count = 0;
  grpc_call_unref(grpc_call_);
}

}  // namespace

std::unique_ptr<ClientSide> MakePollingClient(EventQueue& queue) {
  return std::make_unique<CallsInFlight<PollingCall>>(queue);
}

namespace {

const std::string& Method() {
  static const auto* const method = new std::string(kGenericRpcMethod);
  return *method;
}

// Wraps a channel for the callback API.
class Stub {
 public:
  Stub(Channel&& channel)  // NOLINT(google-explicit-constructor)
      : stub_(grpc::CreateChannelInternal(
            /*host=*/"", std::move(channel).Release(), {})) {}

  grpc::GenericStub& get() { return stub_; }

 private:
  grpc::GenericStub stub_;
};

// A call and its results. Between Start() and OnComplete() gRPC uses it; only
// Cancel() may be called then.
class CallbackCall final : public Completion, private grpc::ClientUnaryReactor {
 public:
  using Calls = CallsInFlight<CallbackCall>;
  using Connection = Stub;

  void Start(Calls& calls, ClientCall& call, Stub& stub);
  void Cancel() { context_->TryCancel(); }
  ClientCall& Finish();
  void Release();

  void OnComplete(bool, TransportEvents& events) override {
    calls_->OnEnd(*this, events);
  }

  int peer = 0;
  size_t position = 0;
  bool abandoned = false;
  std::shared_ptr<Connection> kept;

 private:
  // Runs on a thread of gRPC, which does not use this object afterwards.
  void OnDone(const grpc::Status& status) override;

  Calls* calls_ = nullptr;
  ClientCall* call_ = nullptr;
  std::optional<grpc::ClientContext> context_;  // usable for one call
  OutgoingByteBuffer request_;
  IncomingByteBuffer response_;
  grpc::Status status_;
  int64_t done_ns_ = 0;
  std::string error_;
};

void CallbackCall::Start(Calls& calls, ClientCall& call, Stub& stub) {
  calls_ = &calls;
  call_ = &call;
  context_.emplace();
  context_->set_deadline(DeadlineOf(call));
  call.sent_bytes = request_.Fill(HeaderOf(call), call.request_bytes);
  stub.get().PrepareUnaryCall(&*context_, Method(), {}, request_.get(),
                              response_.get(), this);
  call.sent_ns = base::RealClock().MonotonicNs();
  StartCall();
}

void CallbackCall::OnDone(const grpc::Status& status) {
  done_ns_ = base::RealClock().MonotonicNs();
  status_ = status;
  calls_->queue().Post(*this);
}

ClientCall& CallbackCall::Finish() {
  call_->done_ns = done_ns_;
  ReadEnd(static_cast<grpc_status_code>(status_.error_code()),
          status_.error_message(), response_, error_, *call_);
  return *call_;
}

void CallbackCall::Release() {
  response_.Clear();
  context_.reset();
}

}  // namespace

std::unique_ptr<ClientSide> MakeCallbackClient(EventQueue& queue) {
  return std::make_unique<CallsInFlight<CallbackCall>>(queue);
}

}  // namespace distbench::protocol
