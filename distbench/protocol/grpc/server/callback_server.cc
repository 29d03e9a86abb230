#include "distbench/protocol/grpc/server/callback_server.h"

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <utility>

#include "distbench/base/clock.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"

namespace distbench::protocol {
namespace {

constexpr char kServerEnds[] = "the instance has shut down";

}  // namespace

// A request, both for the engine and for gRPC. It is deleted when its last
// users have let go of it: gRPC, and the worker together with the engine.
class CallbackServer::Request final : public PooledRequest,
                                      public grpc::ServerGenericBidiReactor {
 public:
  explicit Request(CallbackServer& server) : server_(server) {
    StartRead(request_.get());
  }

  void Hold() { holders_.fetch_add(1, std::memory_order_relaxed); }
  void Drop() {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Any thread may call it.
  void SendReply();
  void Refuse(grpc::StatusCode code, const char* message) {
    Finish(grpc::Status(code, message));
  }

  void OnComplete(bool, TransportEvents& events) override {
    server_.OnHandedOver(*this, events);
  }

  void ForgetRequest() { request_.Clear(); }

  bool in_pool = false;  // occupies a thread of the pool
  size_t position = 0;   // among the lent requests

 private:
  ~Request() override = default;

  // PooledRequest.
  EventQueue& queue() override { return server_.queue_; }

  // grpc::ServerGenericBidiReactor, on threads of gRPC.
  void OnReadDone(bool ok) override;
  void OnDone() override { Drop(); }

  CallbackServer& server_;
  IncomingByteBuffer request_;
  OutgoingByteBuffer reply_;
  std::atomic<int> holders_ = 1;  // gRPC
};

void CallbackServer::Request::OnReadDone(bool ok) {
  if (server_.measures_time_parts_)
    arrived_ns = base::RealClock().MonotonicNs();
  if (!ok || !ReadHeader(request_)) {
    Refuse(grpc::StatusCode::INVALID_ARGUMENT, "malformed request");
  } else if (!server_.Enter()) {
    Refuse(grpc::StatusCode::UNAVAILABLE, kServerEnds);
  } else {
    server_.HandOver(*this);
  }
}

void CallbackServer::Request::SendReply() {
  reply_.Fill(ReplyHeader(/*times=*/server_.measures_time_parts_), reply_bytes);
  StartWriteAndFinish(reply_.get(), grpc::WriteOptions(), grpc::Status::OK);
}

CallbackServer::CallbackServer(EventQueue& queue, PoolUse pool_use,
                               bool measures_time_parts)
    : queue_(queue),
      pool_use_(std::move(pool_use)),
      measures_time_parts_(measures_time_parts) {}

CallbackServer::~CallbackServer() {
  // Drop the requests to which the engine has not replied.
  for (Request* request : lent_) request->Drop();
}

grpc::ServerGenericBidiReactor* CallbackServer::Accept() {
  return new Request(*this);
}

bool CallbackServer::Enter() {
  ++inside_;
  if (!closed_) return true;
  --inside_;
  // The worker may have counted this request, and wait for it to leave.
  queue_.Wake();
  return false;
}

void CallbackServer::HandOver(Request& request) {
  request.Hold();
  request.in_pool = pool_use_.Covers(request);
  if (!request.in_pool) {
    queue_.Post(request);
    return;
  }
  if (pool_use_.pool->Submit(request)) return;
  --inside_;
  queue_.Wake();
  request.Refuse(grpc::StatusCode::RESOURCE_EXHAUSTED, kNoThreadForRequest);
  request.Drop();
}

void CallbackServer::OnHandedOver(Request& request, TransportEvents& events) {
  if (closed_) {
    Drop(request);
    request.Drop();
    return;
  }
  lent_.Add(request);
  request.received_ns = base::RealClock().MonotonicNs();
  events.OnRequest(&request);
}

void CallbackServer::Reply(ServerCall* call) {
  Request& request = *static_cast<Request*>(call);
  lent_.Remove(request);
  if (!closed_) {
    request.ForgetRequest();
    --inside_;
    request.SendReply();
    if (request.in_pool) pool_use_.pool->Finish(request);
  }
  request.Drop();
}

// Ends a request that gets no reply.
void CallbackServer::Drop(Request& request) {
  --inside_;
  if (request.in_pool) pool_use_.pool->Finish(request);
  request.Refuse(grpc::StatusCode::UNAVAILABLE, kServerEnds);
}

void CallbackServer::Close() {
  if (closed_.exchange(true)) return;
  for (Request* request : lent_) Drop(*request);
}

}  // namespace distbench::protocol
