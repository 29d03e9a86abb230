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

#include "distbench/base/threads.h"
#include "distbench/protocol/grpc/server/callback_server.h"
#include "distbench/protocol/grpc/server/listener.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/handshake_messages.h"

namespace distbench::protocol {
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
