#include <grpc/grpc.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/protocol/grpc/server/listener.h"
#include "distbench/protocol/grpc/server/queue_server.h"
#include "distbench/protocol/grpc/server/stream_server.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/grpc/wire/stream_counts.h"
#include "distbench/protocol/handshake_messages.h"

namespace distbench::protocol {
namespace {

// What the server sides of a listener need to know.
struct UnarySides {
  using Side = QueueServer;
  static constexpr const char* kMethod = kGenericRpcMethod;
  // The message arrives with the call: one completion for both.
  static constexpr auto kPayload = GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER;

  std::unique_ptr<Side> Make(EventQueue& queue, const std::string& nonce,
                             bool measures_time_parts) const {
    return std::make_unique<Side>(queue, pool_use, nonce, measures_time_parts);
  }

  const PoolUse pool_use;
};

struct StreamSides {
  using Side = GrpcStreamServer;
  static constexpr const char* kMethod = kGenericStreamMethod;
  static constexpr auto kPayload = GRPC_SRM_PAYLOAD_NONE;

  std::unique_ptr<Side> Make(EventQueue& queue, const std::string& nonce,
                             bool measures_time_parts) const {
    return std::make_unique<Side>(queue, nonce, measures_time_parts,
                                  max_waiting_replies, counts);
  }

  const size_t max_waiting_replies;
  StreamCounts& counts;
};

template <typename Sides>
class QueueListener final : public Listener {
 public:
  QueueListener(const ChannelArguments& arguments, Sides sides,
                ListenerSecurity security, bool measures_time_parts)
      : maker_(std::move(sides)),
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
    auto side = maker_.Make(queue, security_.test_nonce, measures_time_parts_);
    sides_.push_back(side.get());
    return side;
  }

  int Start(const std::string& address) override {
    const int port = AddPort(address);
    if (port == 0) return 0;
    void* method = grpc_server_register_method(server_, Sides::kMethod, nullptr,
                                               Sides::kPayload, 0);
    void* handshake = grpc_server_register_method(
        server_, kHandshakeMethod, nullptr,
        GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
    // A method that is registered must be served.
    const bool streams = sides_.front()->streams() != nullptr;
    void* streaming = nullptr;
    if (streams) {
      streaming = grpc_server_register_method(
          server_, kStreamingRpcMethod, nullptr, GRPC_SRM_PAYLOAD_NONE, 0);
    }
    grpc_server_start(server_);
    for (auto* side : sides_) {
      side->Serve(server_, method, handshake);
      if (streams) side->streams()->Serve(server_, streaming);
    }
    return port;
  }

  void Shutdown(EventQueue& queue) override {
    grpc_server_shutdown_and_notify(server_, queue.get(),
                                    &stopped_completion());
    grpc_server_cancel_all_calls(server_);
  }

 private:
  int AddPort(const std::string& address) {
    const security::CoreServerCredentials credentials =
        security::MakeCoreServerCredentials(security_.tls.get());
    return grpc_server_add_http2_port(server_, address.c_str(),
                                      credentials.get());
  }

  const Sides maker_;
  const ListenerSecurity security_;
  const bool measures_time_parts_;
  grpc_server* server_;
  std::vector<typename Sides::Side*> sides_;
};

}  // namespace

std::unique_ptr<Listener> MakeQueueListener(const ChannelArguments& arguments,
                                            PoolUse pool_use,
                                            ListenerSecurity security,
                                            bool measures_time_parts) {
  return std::make_unique<QueueListener<UnarySides>>(
      arguments, UnarySides{std::move(pool_use)}, std::move(security),
      measures_time_parts);
}

std::unique_ptr<Listener> MakeStreamListener(const ChannelArguments& arguments,
                                             ListenerSecurity security,
                                             bool measures_time_parts,
                                             size_t max_waiting_replies,
                                             StreamCounts& counts) {
  return std::make_unique<QueueListener<StreamSides>>(
      arguments, StreamSides{max_waiting_replies, counts}, std::move(security),
      measures_time_parts);
}

}  // namespace distbench::protocol
