#include "distbench/protocol/capnp/client_connection.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench {
namespace {

absl::string_view CodeOf(const kj::Exception& exception) {
  switch (exception.getType()) {
    case kj::Exception::Type::OVERLOADED:
      return "RESOURCE_EXHAUSTED";
    case kj::Exception::Type::DISCONNECTED:
      return "UNAVAILABLE";
    case kj::Exception::Type::UNIMPLEMENTED:
      return "UNIMPLEMENTED";
    default:
      return "INTERNAL";
  }
}

}  // namespace

CapnpClientConnection::CapnpClientConnection(CapnpContext& context,
                                             DialTarget target, Calls& calls,
                                             Listener& listener)
    : CapnpConnection(context, Side::CLIENT),
      context_(context),
      calls_(calls),
      listener_(listener),
      exchanges_(std::make_unique<ObjectPool<Exchange>>()),
      redialer_(context, target, context.settings.handshake_timeout_ns, *this,
                *this) {
  if (!target.stream.is_open()) return;
  Open(std::move(target.stream), /*watched=*/false);
}

void CapnpClientConnection::Send(ClientCall& call, uint64_t call_id,
                                 const RequestHeader& header) {
  unstamped_.Add(call);
  call.transport_state = nullptr;
  call.sent_bytes = LayOutMessage(header, call.request_bytes).total_bytes();
  if (call.sent_bytes > kMaxCapnpMessageBytes) [[unlikely]] {
    StampCalls();
    RemoveCall(call_id);
    return listener_.OnFailed(
        call, absl::StrCat("INVALID_ARGUMENT: a request of ", call.sent_bytes,
                           " bytes; this driver carries up to ",
                           kMaxCapnpMessageBytes));
  }
  waiting_.push_back(call_id);
  waiting_bytes_ += call.sent_bytes;
  MarkDirty();
  if (!is_open()) RequestDial();
}

// The promise may be the one that is being fulfilled.
void CapnpClientConnection::Abandon(ClientCall& call) {
  auto* const exchange = static_cast<Exchange*>(call.transport_state);
  if (exchange == nullptr) return;  // it waits; see Submit()
  exchange->call = nullptr;
  over_.push_back(exchange);
  MarkDirty();
}

CapnpConnection::RpcSystem CapnpClientConnection::BeginRpc(
    capnp::TwoPartyVatNetwork& network) {
  RpcSystem rpc = capnp::makeRpcClient(network);
  capnp::MallocMessageBuilder message(/*firstSegmentWords=*/4);
  auto server = message.initRoot<capnp::rpc::twoparty::VatId>();
  server.setSide(Side::SERVER);
  traffic_.emplace(rpc.bootstrap(server).castAs<capnp_schema::Traffic>());
  return rpc;
}

void CapnpClientConnection::Submit() {
  Collect();
  for (const uint64_t call_id : waiting_) {
    Calls::Entry* entry;
    if (calls_.Find(call_id, entry) != Calls::Match::kFound) continue;
    SubmitCall(*entry->call, call_id);
  }
  waiting_.clear();
  waiting_bytes_ = 0;
}

void CapnpClientConnection::SubmitCall(ClientCall& call, uint64_t call_id) {
  const RequestHeader header = HeaderOf(call);
  const MessageLayout layout = LayOutMessage(header, call.request_bytes);
  auto request = traffic_->genericRpcRequest(CapnpSizeHint(layout));
  FillCapnpMessage(header, layout, request);
  Exchange& exchange = *exchanges_->Get();
  exchange.call = &call;
  exchange.call_id = call_id;
  call.transport_state = &exchange;
  exchange.promise =
      request.send()
          .then([this, &exchange](auto&& response) {
            OnResponse(exchange, response);
          })
          .eagerlyEvaluate([this, &exchange](kj::Exception&& exception) {
            OnException(exchange, exception);
          });
}

void CapnpClientConnection::OnResponse(Exchange& exchange,
                                       capnp_schema::Message::Reader response) {
  if (exchange.call == nullptr) return;
  ResponseHeader header;
  const int64_t size_bytes = ReadCapnpMessage(response, header, scratch_);
  if (size_bytes < 0) return Break(StreamError::kMalformedMessage);
  redialer_.OnReply();
  ClientCall& call = End(exchange);
  call.done_ns = read_ns();
  call.received_bytes = size_bytes;
  call.responding_instance = header.server_instance;
  call.error = header.error_message;
  if (context().settings.measures_time_parts) {
    call.server_queue_ns = header.queue_ns;
    call.server_handler_ns = header.handler_ns;
  }
  events()->OnDone(&call);
}

void CapnpClientConnection::OnException(Exchange& exchange,
                                        const kj::Exception& exception) {
  if (exchange.call == nullptr) return;
  ClientCall& call = End(exchange);
  listener_.OnFailed(call, absl::StrCat(CodeOf(exception), ": ",
                                        exception.getDescription().cStr()));
}

// Ends the exchange of a call that is in flight, and the call with it.
ClientCall& CapnpClientConnection::End(Exchange& exchange) {
  ClientCall& call = *std::exchange(exchange.call, nullptr);
  call.transport_state = nullptr;
  RemoveCall(exchange.call_id);
  over_.push_back(&exchange);
  return call;
}

void CapnpClientConnection::RemoveCall(uint64_t call_id) {
  Calls::Entry* entry;
  if (calls_.Find(call_id, entry) == Calls::Match::kFound) {
    calls_.Remove(*entry);
  }
}

void CapnpClientConnection::Collect() {
  for (Exchange* const exchange : over_) {
    exchange->promise = nullptr;
    exchanges_->Put(exchange);
  }
  over_.clear();
}

void CapnpClientConnection::DropPromises() {
  over_.clear();
  exchanges_ = std::make_unique<ObjectPool<Exchange>>();
  traffic_.reset();
}

void CapnpClientConnection::OnReady(uint32_t epoll_events,
                                    TransportEvents& events) {
  if (redialer_.is_dialing()) return redialer_.Continue();
  if (!is_open()) return;
  OnEvents(epoll_events, events);
  SettleError();
}

// Fails the calls in flight.
void CapnpClientConnection::GoDown(const std::string& error) {
  StampCalls();
  waiting_.clear();
  waiting_bytes_ = 0;
  Close();
  redialer_.OnDown(RealClock().MonotonicNs());
  listener_.OnDown(*this, error);
}

void CapnpClientConnection::RequestDial() {
  if (is_open() || is_dialing()) return;
  redialer_.Request();
  listener_.OnDialNeeded(*this);
}

void CapnpClientConnection::OnConnected(Stream stream) {
  Open(std::move(stream), /*watched=*/true);
  MarkDirty();
}

}  // namespace distbench
