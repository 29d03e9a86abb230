#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "distbench/protocol/grpc/callback_server.h"
#include "distbench/protocol/grpc/channel.h"
#include "distbench/protocol/grpc/listener.h"

namespace distbench {
namespace {

class CallbackListener final : public Listener,
                               private grpc::CallbackGenericService {
 public:
  CallbackListener(const ChannelArguments& arguments, PoolUse pool_use)
      : arguments_(arguments), pool_use_(std::move(pool_use)) {}

  ~CallbackListener() override {
    if (shutdown_.joinable()) shutdown_.join();
  }

  std::unique_ptr<ServerSide> MakeServerSide(EventQueue& queue) override {
    auto side = std::make_unique<CallbackServer>(queue, pool_use_);
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
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
    return server_ == nullptr ? 0 : port;
  }

  void Shutdown(EventQueue& queue) override {
    // It waits for the end of all requests, which takes polling.
    shutdown_ = std::thread([this, &queue] {
      server_->Shutdown(gpr_inf_past(GPR_CLOCK_MONOTONIC));
      queue.Post(stopped_completion());
    });
  }

 private:
  // grpc::CallbackGenericService
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    if (context->method() != kGenericRpcMethod) {
      return CallbackGenericService::CreateReactor(context);  // unimplemented
    }
    const size_t turn = turn_.fetch_add(1, std::memory_order_relaxed);
    return sides_[turn % sides_.size()]->Accept();
  }

  const ChannelArguments arguments_;
  const PoolUse pool_use_;
  std::vector<CallbackServer*> sides_;
  std::atomic<size_t> turn_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::thread shutdown_;
};

}  // namespace

std::unique_ptr<Listener> MakeCallbackListener(
    const ChannelArguments& arguments, PoolUse pool_use) {
  return std::make_unique<CallbackListener>(arguments, std::move(pool_use));
}

}  // namespace distbench
