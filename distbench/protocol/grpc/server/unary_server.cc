// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/server/unary_server.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "distbench/base/clock.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/server/handler_pool.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "glog/logging.h"

namespace distbench::protocol {
namespace {

constexpr char kServerEnds[] = "the instance has shut down";

}  // namespace

// One request after another, both for the engine and for gRPC.
class UnaryRequest final : public ServerCall,
                           public AskedCall,
                           public HandlerPool::Task {
 public:
  UnaryRequest(UnaryRequests& requests, CallSource& source, void* method)
      : AskedCall(source, method), requests_(requests) {}

  // These are for the thread that has the turn.

  // Sends the engine's answer. Afterwards another request may be in this.
  void Answer();
  // The server ends. The engine may still look at the request.
  void GiveUp();

  size_t position = 0;  // among the lent requests

 private:
  void OnAsking() override { requests_.OnAsking(); }
  void OnArrived(TransportEvents* events) override;
  void OnHandedOver(TransportEvents& events) override;
  void Run() override { HandOver(side_->queue()); }
  bool ReadHeader();
  void Deliver(TransportEvents& events);
  template <typename End>
  void LeavePoolAfter(End end);

  UnaryRequests& requests_;
  UnaryServer* side_ = nullptr;
  bool in_pool_ = false;  // occupies a thread of the pool
  // When gRPC delivered the request (monotonic). received_ns is later if it had
  // to wait for a thread of a pool or for its worker.
  int64_t arrived_ns_ = 0;
  OutgoingMessage reply_;
};

void UnaryRequest::OnArrived(TransportEvents* events) {
  side_ = &requests_.OnArrival();
  if (!ReadHeader()) {
    return Refuse(GRPC_STATUS_INVALID_ARGUMENT, "malformed request");
  }
  const PoolUse& pool_use = requests_.pool_use();
  in_pool_ = pool_use.Covers(*this);
  if (in_pool_) {
    if (pool_use.pool->Submit(*this)) return;
    return Refuse(GRPC_STATUS_RESOURCE_EXHAUSTED,
                  "the server cannot start a thread for the request "
                  "(threadpool_type \"null\")");
  }
  events == nullptr ? HandOver(side_->queue()) : Deliver(*events);
}

// Fills in the ServerCall. Returns false if the request is malformed.
bool UnaryRequest::ReadHeader() {
  static_cast<ServerCall&>(*this) = {};
  received_ns = arrived_ns_ = base::RealClock().MonotonicNs();
  request_bytes = request().size_bytes();
  payload::RequestHeader header;
  if (!request().Decode(header)) return false;
  TakeHeader(header, *this);
  // A handler may take its time: the payload need not stay for it.
  if (trace_context.empty()) request().Clear();
  return true;
}

void UnaryRequest::OnHandedOver(TransportEvents& events) {
  received_ns = base::RealClock().MonotonicNs();
  Deliver(events);
}

void UnaryRequest::Deliver(TransportEvents& events) {
  if (side_->Lend(*this)) return events.OnRequest(this);
  LeavePoolAfter([this] { Refuse(GRPC_STATUS_UNAVAILABLE, kServerEnds); });
}

void UnaryRequest::Answer() {
  payload::ResponseHeader header = {.server_instance = reply_instance,
                                    .error_message = reply_error};
  if (requests_.measures_time_parts()) {
    header.queue_ns = begun_ns - arrived_ns_;
    header.handler_ns = base::RealClock().MonotonicNs() - begun_ns;
  }
  reply_.Fill(header, reply_bytes);
  LeavePoolAfter([this] { Reply(reply_.get()); });
}

void UnaryRequest::GiveUp() {
  LeavePoolAfter([this] { Abandon(); });
}

// Waking another thread of the pool takes time, which is no part of a request.
// `end` may let another thread use this object.
template <typename End>
void UnaryRequest::LeavePoolAfter(End end) {
  HandlerPool* const pool = in_pool_ ? requests_.pool_use().pool : nullptr;
  const HandlerPool::Occupied thread = occupied();
  end();
  if (pool != nullptr) pool->Finish(thread);
}

UnaryRequests::UnaryRequests(CallSource& source, PoolUse pool_use,
                             bool measures_time_parts)
    : source_(source),
      pool_use_(std::move(pool_use)),
      measures_time_parts_(measures_time_parts) {}

void UnaryRequests::Serve(void* method) {
  if (method_ != nullptr) return;
  method_ = method;
  for (int i = 0; i < kAhead; ++i) Accept();
}

void UnaryRequests::Accept() {
  source_.Add(std::make_unique<UnaryRequest>(*this, source_, method_));
}

// Requests that are answered ask again, so that others are made only until
// there are as many as were ever handled at a time, and kAhead.
UnaryServer& UnaryRequests::OnArrival() {
  if (CountAsked(-1) < kAhead) Accept();
  if (sides_.size() == 1) return *sides_.front();
  const size_t turn = arrived_.fetch_add(1, std::memory_order_relaxed);
  return *sides_[turn % sides_.size()];
}

// Returns the new number.
int UnaryRequests::CountAsked(int change) {
  if (source_.by_callback()) {
    return asked_.fetch_add(change, std::memory_order_relaxed) + change;
  }
  // Only one thread at a time counts.
  const int asked = asked_.load(std::memory_order_relaxed) + change;
  asked_.store(asked, std::memory_order_relaxed);
  return asked;
}

UnaryServer::UnaryServer(EventQueue& queue, UnaryRequests& requests)
    : queue_(queue), requests_(requests), streaming_(queue) {
  requests.AddSide(*this);
}

UnaryServer::~UnaryServer() { CHECK(drained()); }

void UnaryServer::Serve(grpc_server* server, const ServedMethods& methods) {
  requests_.Serve(methods.requests);
  if (streams() != nullptr) streaming_.Serve(server, methods.streaming);
}

bool UnaryServer::Lend(UnaryRequest& request) {
  if (closed_) return false;
  request.position = lent_.size();
  lent_.push_back(&request);
  return true;
}

void UnaryServer::TakeBack(UnaryRequest& request) {
  lent_.back()->position = request.position;
  lent_[request.position] = lent_.back();
  lent_.pop_back();
}

void UnaryServer::Reply(ServerCall* call) {
  // Once closed, the connections are gone, and their requests were given up.
  if (closed_) return;
  UnaryRequest& request = *static_cast<UnaryRequest*>(call);
  TakeBack(request);
  request.Answer();
}

void UnaryServer::Close() {
  if (closed_) return;
  closed_ = true;
  streaming_.Close();
  for (UnaryRequest* request : lent_) request->GiveUp();
}

}  // namespace distbench::protocol
