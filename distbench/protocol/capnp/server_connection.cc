#include "distbench/protocol/capnp/server_connection.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/protocol/capnp/message.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench {

// What the client calls.
class CapnpServerConnection::Endpoint final
    : public capnp_schema::Traffic::Server {
 public:
  explicit Endpoint(CapnpServerConnection& connection)
      : connection_(connection) {}

  kj::Promise<void> genericRpc(GenericRpcContext context) override {
    return connection_.OnCall(context);
  }

 private:
  CapnpServerConnection& connection_;
};

CapnpServerConnection::CapnpServerConnection(CapnpContext& context,
                                             Socket accepted)
    : AcceptedConnection(std::move(accepted), context, Side::SERVER) {
  greeting_.emplace(context.security.test_nonce);
}

void CapnpServerConnection::OnReady(uint32_t epoll_events,
                                    TransportEvents& events) {
  if (!is_open()) return;
  if (greeting_.has_value()) {
    ContinueGreeting();
  } else {
    OnEvents(epoll_events, events);
  }
  SettleError();
}

void CapnpServerConnection::ContinueGreeting() {
  const StreamError error = greeting_->Continue(stream());
  if (error == StreamError::kTlsFailed) return BreakWithStreamError(error);
  if (error != StreamError::kNone) return Break(error);
  if (!greeting_->is_over()) return;
  greeting_.reset();
  EndHello();
  MarkDirty();
}

CapnpConnection::RpcSystem CapnpServerConnection::BeginRpc(
    capnp::TwoPartyVatNetwork& network) {
  return capnp::makeRpcServer(
      network, capnp_schema::Traffic::Client(kj::heap<Endpoint>(*this)));
}

// Accepts no more requests from a client that does not read its replies.
bool CapnpServerConnection::MayRead() const {
  const int64_t limit = context().settings.send_queue_bytes;
  const auto queued = static_cast<int64_t>(queued_bytes());
  return queued < (reads() ? limit : limit / 2);
}

kj::Promise<void> CapnpServerConnection::OnCall(Request::Context context) {
  RequestHeader header;
  const int64_t size_bytes =
      ReadCapnpMessage(context.getParams(), header, scratch_);
  if (size_bytes < 0) {
    Break(StreamError::kMalformedMessage);
    return KJ_EXCEPTION(FAILED, "malformed message");
  }
  Request& request = *requests_.Get();
  static_cast<ServerCall&>(request) = {.request_bytes = size_bytes,
                                       .received_ns = read_ns()};
  TakeHeader(header, request);
  KeepTrace(header, request);
  context.releaseParams();
  request.context.emplace(context);
  return Deliver(request);
}

// Only reads bring requests, so there are events to deliver them to.
kj::Promise<void> CapnpServerConnection::Deliver(Request& request) {
  NotePending(request);
  delivered_ = &request;
  events()->OnRequest(&request);
  if (std::exchange(delivered_, nullptr) == nullptr) return kj::READY_NOW;
  auto pair = kj::newPromiseAndFulfiller<void>();
  request.answer = kj::mv(pair.fulfiller);
  return kj::mv(pair.promise);
}

void CapnpServerConnection::Reply(Request& request) {
  --pending_requests_;
  if (delivered_ == &request) {
    delivered_ = nullptr;
    FillReply(request);
  } else if (request.answer->isWaiting()) {
    FillReply(request);
    answered_.push_back(kj::mv(request.answer));
    MarkDirty();
  } else if (!is_open() && pending_requests_ == 0) {
    NoteClosed();
  }
  requests_.Put(&request);
}

void CapnpServerConnection::FillReply(Request& request) {
  ResponseHeader header = ReplyHeader(request, kMaxCapnpStringBytes);
  MessageLayout layout = LayOutMessage(header, request.reply_bytes);
  std::string error;
  if (layout.total_bytes() > kMaxCapnpMessageBytes) {
    error = absl::StrCat(
        "INVALID_ARGUMENT: a response of ", layout.total_bytes(),
        " bytes; this driver carries up to ", kMaxCapnpMessageBytes);
    header.error_message = error;
    layout = LayOutMessage(header, 0);
  }
  FillCapnpMessage(header, layout,
                   request.context->initResults(CapnpSizeHint(layout)));
}

void CapnpServerConnection::Submit() {
  for (auto& answer : answered_) answer->fulfill();
  answered_.clear();
}

}  // namespace distbench
