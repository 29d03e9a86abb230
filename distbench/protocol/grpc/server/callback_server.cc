#include "distbench/protocol/grpc/server/callback_server.h"

#include <grpc/support/time.h>
#include <grpcpp/ext/health_check_service_server_builder_option.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/impl/server_builder_plugin.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/base/threads.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/server/server_side.h"
#include "distbench/protocol/grpc/wire/channel.h"
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

namespace {

// Removes plugins that a process adds to all of its servers, such as
// reflection, from the servers of test traffic.
class TrafficOnly final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>*
                         plugins) override {
    plugins->clear();
  }
};

// Answers a handshake, then deletes itself.
class HandshakeReactor final : public grpc::ServerGenericBidiReactor {
 public:
  explicit HandshakeReactor(const std::string& nonce) : nonce_(nonce) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    grpc::Slice bytes;
    if (!ok || !request_.DumpToSingleSlice(&bytes).ok()) {
      return Finish({grpc::StatusCode::INVALID_ARGUMENT, "no handshake"});
    }
    const absl::string_view request(
        reinterpret_cast<const char*>(bytes.begin()), bytes.size());
    const absl::StatusOr<std::string> answer = AnswerHandshake(nonce_, request);
    if (!answer.ok()) {
      return Finish({grpc::StatusCode::INVALID_ARGUMENT,
                     std::string(answer.status().message())});
    }
    const grpc::Slice slice(*answer);
    response_ = grpc::ByteBuffer(&slice, 1);
    StartWriteAndFinish(&response_, {}, grpc::Status::OK);
  }
  void OnDone() override { delete this; }

 private:
  const std::string nonce_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

class CallbackListener final : public Listener,
                               private grpc::CallbackGenericService {
 public:
  CallbackListener(const ChannelArguments& arguments, PoolUse pool_use,
                   ListenerSecurity security, bool measures_time_parts)
      : arguments_(arguments),
        pool_use_(std::move(pool_use)),
        security_(std::move(security)),
        measures_time_parts_(measures_time_parts) {}

  ~CallbackListener() override {
    if (shutdown_.joinable()) shutdown_.join();
  }

  std::unique_ptr<ServerSide> MakeServerSide(EventQueue& queue) override {
    auto side = std::make_unique<CallbackServer>(queue, pool_use_,
                                                 measures_time_parts_);
    sides_.push_back(side.get());
    return side;
  }

  int Start(const std::string& address) override {
    grpc::ServerBuilder builder;
    for (const grpc_arg& argument : arguments_.AsGrpc()) {
      if (argument.type == GRPC_ARG_INTEGER) {
        builder.AddChannelArgument(argument.key, argument.value.integer);
      } else {
        builder.AddChannelArgument(argument.key,
                                   std::string(argument.value.string));
      }
    }
    int port = 0;
    builder.SetOption(std::make_unique<TrafficOnly>());
    builder.SetOption(
        std::make_unique<grpc::HealthCheckServiceServerBuilderOption>(nullptr));
    builder.AddListeningPort(
        address, security::MakeServerCredentials(security_.tls.get()), &port);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
    return server_ == nullptr ? 0 : port;
  }

  void Shutdown(EventQueue& queue) override {
    const auto shut_down = [this, &queue] {
      server_->Shutdown(gpr_inf_past(GPR_CLOCK_MONOTONIC));
      queue.Post(stopped_completion());
    };
    // Shutting down waits for the end of all requests, which requires polling.
    // Without a thread to spare, the caller's thread works if others poll.
    auto thread = base::StartThread("the end of a server", shut_down);
    if (thread.ok()) {
      shutdown_ = *std::move(thread);
    } else {
      shut_down();
    }
  }

 private:
  // grpc::CallbackGenericService.
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    if (context->method() == kHandshakeMethod) {
      return new HandshakeReactor(security_.test_nonce);
    }
    if (context->method() != kGenericRpcMethod) {
      return CallbackGenericService::CreateReactor(context);  // unimplemented
    }
    const size_t turn = turn_.fetch_add(1, std::memory_order_relaxed);
    return sides_[turn % sides_.size()]->Accept();
  }

  const ChannelArguments arguments_;
  const PoolUse pool_use_;
  const ListenerSecurity security_;
  const bool measures_time_parts_;
  std::vector<CallbackServer*> sides_;
  std::atomic<size_t> turn_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::thread shutdown_;
};

}  // namespace

std::unique_ptr<Listener> MakeCallbackListener(
    const ChannelArguments& arguments, PoolUse pool_use,
    ListenerSecurity security, bool measures_time_parts) {
  return std::make_unique<CallbackListener>(
      arguments, std::move(pool_use), std::move(security), measures_time_parts);
}

}  // namespace distbench::protocol
