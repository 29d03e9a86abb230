#include "distbench/protocol/grpc/server/unary_server.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "distbench/base/clock.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/server/handler_pool.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "glog/logging.h"

namespace distbench::protocol {

// One request after another, both for the engine and for gRPC.
class UnaryServer::Request final : public ServerCall,
                                   public AskedCall,
                                   public HandlerPool::Task {
 public:
  explicit Request(UnaryServer& server)
      : AskedCall(server.place_, server.method_), server_(server) {}

  // These are for the thread that has the turn.
  void AnswerAsLent();
  void LeavePool();

 private:
  void OnAsking() override { ++server_.asked_; }
  void OnArrived(TransportEvents* events) override;
  void OnHandedOver(TransportEvents& events) override;
  void Run() override { HandOver(); }
  bool ReadHeader();

  UnaryServer& server_;
  bool in_pool_ = false;  // occupies a thread of the pool
  size_t position_ = 0;   // among the lent requests, if it is in the pool
  // When gRPC delivered the request (monotonic). received_ns is later if it had
  // to wait for a thread of a pool or for its worker.
  int64_t arrived_ns_ = 0;
  OutgoingMessage reply_;
};

void UnaryServer::Request::OnArrived(TransportEvents* events) {
  server_.OnArrival();
  const PoolUse& pool_use = server_.pool_use_;
  if (!ReadHeader()) {
    return Refuse(GRPC_STATUS_INVALID_ARGUMENT, "malformed request");
  }
  in_pool_ = pool_use.Covers(*this);
  if (in_pool_) {
    if (pool_use.pool->Submit(*this)) return;
    return Refuse(GRPC_STATUS_RESOURCE_EXHAUSTED,
                  "the server cannot start a thread for the request "
                  "(threadpool_type \"null\")");
  }
  if (events == nullptr) return HandOver();
  Lend();
  events->OnRequest(this);
}

// Fills in the ServerCall. Returns false if the request is malformed.
bool UnaryServer::Request::ReadHeader() {
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

void UnaryServer::Request::OnHandedOver(TransportEvents& events) {
  if (place().closed) {
    if (in_pool_) server_.pool_use_.pool->Finish(*this);
    return Drop();
  }
  if (in_pool_) {
    position_ = server_.lent_.size();
    server_.lent_.push_back(this);
  } else {
    Lend();
  }
  received_ns = base::RealClock().MonotonicNs();
  events.OnRequest(this);
}

void UnaryServer::Request::AnswerAsLent() {
  if (in_pool_) {
    Request* const last = server_.lent_.back();
    last->position_ = position_;
    server_.lent_[position_] = last;
    server_.lent_.pop_back();
    server_.pool_use_.pool->Finish(*this);
  } else {
    TakeBack();
  }
  payload::ResponseHeader header = {.server_instance = reply_instance,
                                    .error_message = reply_error};
  if (server_.measures_time_parts_) {
    header.queue_ns = begun_ns - arrived_ns_;
    header.handler_ns = base::RealClock().MonotonicNs() - begun_ns;
  }
  reply_.Fill(header, reply_bytes);
  AskedCall::Reply(reply_.get());
}

// Nobody will answer it.
void UnaryServer::Request::LeavePool() {
  Drop();
  server_.pool_use_.pool->Finish(*this);
}

UnaryServer::UnaryServer(EventQueue& queue, const CallbackQueue* callbacks,
                         PoolUse pool_use, std::string nonce,
                         bool measures_time_parts)
    : place_{.queue = queue, .callbacks = callbacks},
      pool_use_(std::move(pool_use)),
      measures_time_parts_(measures_time_parts),
      other_methods_(place_, std::move(nonce)) {}

UnaryServer::~UnaryServer() { CHECK(drained()); }

void UnaryServer::Serve(grpc_server* server, void* method,
                        void* handshake_method) {
  place_.server = server;
  method_ = method;
  other_methods_.Serve(handshake_method);
}

void UnaryServer::Accept() {
  auto owned = std::make_unique<Request>(*this);
  Request& request = *owned;
  {
    const absl::MutexLock lock(&mutex_);
    requests_.push_back(std::move(owned));
  }
  request.Ask();
}

// Requests that are answered are asked for again, so that there are enough as
// soon as there have once been as many as are handled at a time.
void UnaryServer::OnArrival() {
  if (--asked_ < kAhead / 2 && !place_.closed) Accept();
}

void UnaryServer::Reply(ServerCall* call) {
  // Once closed, the connection is gone, and its requests have left the pool.
  if (!place_.closed) static_cast<Request*>(call)->AnswerAsLent();
}

void UnaryServer::Close() {
  if (place_.closed.exchange(true)) return;
  other_methods_.Close();
  for (Request* request : lent_) request->LeavePool();
}

}  // namespace distbench::protocol
