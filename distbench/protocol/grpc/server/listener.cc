#include <grpc/grpc.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/queue/callback_queue.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/server/server_side.h"
#include "distbench/protocol/grpc/server/stream_server.h"
#include "distbench/protocol/grpc/server/unary_server.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/grpc/wire/stream_side.h"
#include "distbench/security/credentials.h"

namespace distbench::protocol {
namespace {

// What the server sides of a listener need to know.
struct UnarySides {
  using Side = UnaryServer;
  static constexpr const char* kMethod = kGenericRpcMethod;
  // The message arrives with the call: one completion for both.
  static constexpr auto kPayload = GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER;

  std::unique_ptr<Side> Make(EventQueue& queue, const std::string& nonce,
                             bool measures_time_parts) const {
    return std::make_unique<Side>(queue, callbacks, pool_use, nonce,
                                  measures_time_parts);
  }

  const PoolUse pool_use;
  const CallbackQueue* const callbacks;
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
  const CallbackQueue* const callbacks = nullptr;
};

template <typename Sides>
class ListenerFor final : public Listener, private Callback {
 public:
  ListenerFor(const ChannelArguments& arguments, Sides sides,
              ListenerSecurity security, bool measures_time_parts)
      : maker_(std::move(sides)),
        security_(std::move(security)),
        measures_time_parts_(measures_time_parts) {
    std::vector<grpc_arg> list = arguments.AsGrpc();
    const grpc_channel_args args = {.num_args = list.size(),
                                    .args = list.data()};
    server_ = grpc_server_create(&args, nullptr);
  }
  ~ListenerFor() override { grpc_server_destroy(server_); }

  std::unique_ptr<ServerSide> MakeServerSide(EventQueue& queue) override {
    grpc_server_register_completion_queue(server_, QueueOfSide(queue), nullptr);
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
    // If the sides share a queue, gRPC gives them calls in this order.
    for (int i = 0; i < Sides::Side::kAhead; ++i) {
      for (auto* side : sides_) side->Accept();
    }
    return port;
  }

  void Shutdown(EventQueue& queue) override {
    shutdown_queue_ = &queue;
    void* const tag =
        maker_.callbacks == nullptr ? &stopped_completion() : Callback::tag();
    grpc_server_shutdown_and_notify(server_, QueueOfSide(queue), tag);
    grpc_server_cancel_all_calls(server_);
  }

 private:
  grpc_completion_queue* QueueOfSide(EventQueue& queue) const {
    return maker_.callbacks == nullptr ? queue.get() : maker_.callbacks->get();
  }

  // The server has been shut down.
  void OnCallback(bool) override {
    shutdown_queue_->Post(stopped_completion());
  }

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
  EventQueue* shutdown_queue_ = nullptr;
};

}  // namespace

std::unique_ptr<Listener> MakeUnaryListener(const ChannelArguments& arguments,
                                            PoolUse pool_use,
                                            const CallbackQueue* callbacks,
                                            ListenerSecurity security,
                                            bool measures_time_parts) {
  return std::make_unique<ListenerFor<UnarySides>>(
      arguments, UnarySides{std::move(pool_use), callbacks},
      std::move(security), measures_time_parts);
}

std::unique_ptr<Listener> MakeStreamListener(const ChannelArguments& arguments,
                                             ListenerSecurity security,
                                             bool measures_time_parts,
                                             size_t max_waiting_replies,
                                             StreamCounts& counts) {
  return std::make_unique<ListenerFor<StreamSides>>(
      arguments, StreamSides{max_waiting_replies, counts}, std::move(security),
      measures_time_parts);
}

}  // namespace distbench::protocol
