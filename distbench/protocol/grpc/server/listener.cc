// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <grpc/grpc.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/queue/callback_queue.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/server/asked_call.h"
#include "distbench/protocol/grpc/server/other_methods.h"
#include "distbench/protocol/grpc/server/server_side.h"
#include "distbench/protocol/grpc/server/stream_server.h"
#include "distbench/protocol/grpc/server/unary_server.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/grpc/wire/stream_side.h"
#include "distbench/security/credentials.h"

namespace distbench::protocol {
namespace {

// The method of a listener's requests.
struct Method {
  const char* name;
  grpc_server_register_method_payload_handling payload;
};

class GrpcListener : public Listener, private Callback {
 public:
  // With `callbacks`, calls arrive there, for all sides; else at the queue of
  // each side.
  GrpcListener(const ChannelArguments& arguments, Method method,
               const CallbackQueue* callbacks, ListenerSecurity security)
      : method_(method), callbacks_(callbacks), security_(std::move(security)) {
    std::vector<grpc_arg> list = arguments.AsGrpc();
    const grpc_channel_args args = {.num_args = list.size(),
                                    .args = list.data()};
    server_ = grpc_server_create(&args, nullptr);
  }
  ~GrpcListener() override { grpc_server_destroy(server_); }

  std::unique_ptr<ServerSide> MakeServerSide(EventQueue& queue) override {
    const bool is_new = callbacks_ == nullptr || sources_.empty();
    if (is_new) sources_.push_back(std::make_unique<CallSource>(callbacks_));
    CallSource& source = *sources_.back();
    source.AddWorker(queue);
    if (is_new) {
      source.SetServer(server_);
      grpc_server_register_completion_queue(server_, source.queue(), nullptr);
    }
    auto side = MakeSide(queue, source, is_new);
    sides_.push_back(side.get());
    return side;
  }

  int Start(const std::string& address) override {
    const int port = AddPort(address);
    if (port == 0) return 0;
    ServedMethods methods = {.requests = Register(method_)};
    void* const handshake =
        Register({kHandshakeMethod, GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER});
    // A method that is registered must be served.
    if (sides_.front()->streams() != nullptr) {
      methods.streaming =
          Register({kStreamingRpcMethod, GRPC_SRM_PAYLOAD_NONE});
    }
    grpc_server_start(server_);
    for (const auto& source : sources_) {
      AnswerOtherMethods(*source, handshake, security_.test_nonce);
    }
    for (ServerSide* side : sides_) side->Serve(server_, methods);
    return port;
  }

  void Shutdown(EventQueue& queue) override {
    shutdown_queue_ = &queue;
    void* const tag =
        callbacks_ == nullptr ? &stopped_completion() : Callback::tag();
    grpc_server_shutdown_and_notify(server_, sources_.front()->queue(), tag);
    grpc_server_cancel_all_calls(server_);
  }

 protected:
  // is_new: whether the source has no side yet.
  virtual std::unique_ptr<ServerSide> MakeSide(EventQueue& queue,
                                               CallSource& source,
                                               bool is_new) = 0;

 private:
  // The server has been shut down.
  void OnCallback(bool) override {
    shutdown_queue_->Post(stopped_completion());
  }

  void* Register(Method method) {
    return grpc_server_register_method(server_, method.name, nullptr,
                                       method.payload, 0);
  }

  int AddPort(const std::string& address) {
    const security::CoreServerCredentials credentials =
        security::MakeCoreServerCredentials(security_.tls.get());
    return grpc_server_add_http2_port(server_, address.c_str(),
                                      credentials.get());
  }

  const Method method_;
  const CallbackQueue* const callbacks_;
  const ListenerSecurity security_;
  grpc_server* server_;
  std::vector<std::unique_ptr<CallSource>> sources_;
  std::vector<ServerSide*> sides_;
  EventQueue* shutdown_queue_ = nullptr;
};

class UnaryListener final : public GrpcListener {
 public:
  UnaryListener(const ChannelArguments& arguments, PoolUse pool_use,
                const CallbackQueue* callbacks, ListenerSecurity security,
                bool measures_time_parts)
      // The message arrives with the call: one completion for both.
      : GrpcListener(
            arguments,
            {kGenericRpcMethod, GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER},
            callbacks, std::move(security)),
        pool_use_(std::move(pool_use)),
        measures_time_parts_(measures_time_parts) {}

 private:
  std::unique_ptr<ServerSide> MakeSide(EventQueue& queue, CallSource& source,
                                       bool is_new) override {
    if (is_new) {
      requests_.push_back(std::make_unique<UnaryRequests>(
          source, pool_use_, measures_time_parts_));
    }
    return std::make_unique<UnaryServer>(queue, *requests_.back());
  }

  const PoolUse pool_use_;
  const bool measures_time_parts_;
  std::vector<std::unique_ptr<UnaryRequests>> requests_;  // by source
};

class StreamListener final : public GrpcListener {
 public:
  StreamListener(const ChannelArguments& arguments, ListenerSecurity security,
                 bool measures_time_parts, size_t max_waiting_replies,
                 StreamCounts& counts)
      : GrpcListener(arguments, {kGenericStreamMethod, GRPC_SRM_PAYLOAD_NONE},
                     /*callbacks=*/nullptr, std::move(security)),
        measures_time_parts_(measures_time_parts),
        max_waiting_replies_(max_waiting_replies),
        counts_(counts) {}

 private:
  std::unique_ptr<ServerSide> MakeSide(EventQueue& queue, CallSource& source,
                                       bool /*is_new*/) override {
    return std::make_unique<GrpcStreamServer>(
        queue, source, measures_time_parts_, max_waiting_replies_, counts_);
  }

  const bool measures_time_parts_;
  const size_t max_waiting_replies_;
  StreamCounts& counts_;
};

}  // namespace

std::unique_ptr<Listener> MakeUnaryListener(const ChannelArguments& arguments,
                                            PoolUse pool_use,
                                            const CallbackQueue* callbacks,
                                            ListenerSecurity security,
                                            bool measures_time_parts) {
  return std::make_unique<UnaryListener>(arguments, std::move(pool_use),
                                         callbacks, std::move(security),
                                         measures_time_parts);
}

std::unique_ptr<Listener> MakeStreamListener(const ChannelArguments& arguments,
                                             ListenerSecurity security,
                                             bool measures_time_parts,
                                             size_t max_waiting_replies,
                                             StreamCounts& counts) {
  return std::make_unique<StreamListener>(arguments, std::move(security),
                                          measures_time_parts,
                                          max_waiting_replies, counts);
}

}  // namespace distbench::protocol
