#include "distbench/protocol/grpc/client/client_side.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "distbench/base/clock.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/client/calls_in_flight.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"

namespace distbench::protocol {
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
