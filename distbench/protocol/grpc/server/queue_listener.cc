#include <grpc/grpc.h>

#include <string>
#include <utility>
#include <vector>

#include "distbench/protocol/grpc/server/listener.h"
#include "distbench/protocol/grpc/server/queue_server.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/handshake_messages.h"

namespace distbench {
namespace {

class QueueListener final : public Listener {
 public:
  QueueListener(const ChannelArguments& arguments, PoolUse pool_use,
                ListenerSecurity security, bool measures_time_parts)
      : pool_use_(std::move(pool_use)),
        security_(std::move(security)),
        measures_time_parts_(measures_time_parts) {
    std::vector<grpc_arg> list = arguments.AsGrpc();
    const grpc_channel_args args = {.num_args = list.size(),
                                    .args = list.data()};
    server_ = grpc_server_create(&args, nullptr);
  }
  ~QueueListener() override { grpc_server_destroy(server_); }

  std::unique_ptr<ServerSide> MakeServerSide(EventQueue& queue) override {
    grpc_server_register_completion_queue(server_, queue.get(), nullptr);
    auto side = std::make_unique<QueueServer>(
        queue, pool_use_, security_.test_nonce, measures_time_parts_);
    sides_.push_back(side.get());
    return side;
  }

  int Start(const std::string& address) override {
    const int port = AddPort(address);
    if (port == 0) return 0;
    // The message arrives with the call: one completion for both.
    void* method = grpc_server_register_method(
        server_, kGenericRpcMethod, nullptr,
        GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
    void* handshake = grpc_server_register_method(
        server_, kHandshakeMethod, nullptr,
        GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
    grpc_server_start(server_);
    for (QueueServer* side : sides_) side->Serve(server_, method, handshake);
    return port;
  }

  void Shutdown(EventQueue& queue) override {
    grpc_server_shutdown_and_notify(server_, queue.get(),
                                    &stopped_completion());
    grpc_server_cancel_all_calls(server_);
  }

 private:
  int AddPort(const std::string& address) {
    const CoreServerCredentials credentials =
        MakeCoreServerCredentials(security_.tls.get());
    return grpc_server_add_http2_port(server_, address.c_str(),
                                      credentials.get());
  }

  const PoolUse pool_use_;
  const ListenerSecurity security_;
  const bool measures_time_parts_;
  grpc_server* server_;
  std::vector<QueueServer*> sides_;
};

}  // namespace

std::unique_ptr<Listener> MakeQueueListener(const ChannelArguments& arguments,
                                            PoolUse pool_use,
                                            ListenerSecurity security,
                                            bool measures_time_parts) {
  return std::make_unique<QueueListener>(
      arguments, std::move(pool_use), std::move(security), measures_time_parts);
}

}  // namespace distbench
