// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_SERVER_SIDE_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_SERVER_SIDE_H_

#include <grpc/grpc.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/callback_queue.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/server/handler_pool.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/grpc/wire/stream_side.h"
#include "distbench/security/credentials.h"

namespace distbench::protocol {

class StreamingRequests;

// Selects the requests that go through a pool.
struct PoolUse {
  HandlerPool* pool = nullptr;  // null: requests are handled on arrival

  // By RPC index: whether requests are answered at once, without a thread,
  // unless the client asks for processing time.
  std::vector<bool> immediate_rpcs = {};

  bool Covers(const ServerCall& call) const {
    const auto index = static_cast<size_t>(call.rpc_index);
    const bool immediate = index < immediate_rpcs.size() &&
                           immediate_rpcs[index] && call.processing_ns == 0;
    return pool != nullptr && !immediate;
  }
};

// Methods that were registered with a server.
struct ServedMethods {
  void* requests = nullptr;
  void* streaming = nullptr;  // kStreamingRpcMethod, if any side has streams()
};

// The server side of a transport: brings requests to its worker and sends the
// replies. Used by the thread that polls the transport's queue.
class ServerSide {
 public:
  // Requires that drained() holds. Drops requests without a reply.
  virtual ~ServerSide() = default;

  // Starts to accept requests of methods that come from
  // grpc_server_register_method(). They and the server must live until the
  // server was shut down. Called before the queue is polled, when all sides
  // have been made.
  virtual void Serve(grpc_server* server, const ServedMethods& methods) = 0;

  // As Transport::Reply().
  virtual void Reply(ServerCall* call) = 0;

  // Called when the server is shutting down: no more requests reach the worker,
  // and replies may be lost.
  virtual void Close() = 0;

  // Returns whether, after the server was shut down and all sides were closed,
  // gRPC and the handler pool have finished all work for this side.
  virtual bool drained() const = 0;

  // The requests of RPCs that stream; null if there are none.
  virtual StreamingRequests* streams() { return nullptr; }
};

// The entry point of the gRPC driver's requests: a gRPC server that passes them
// to the server sides of the driver's transports.

// Restrictions on who may connect.
struct ListenerSecurity {
  // See DriverEnvironment.
  std::string test_nonce = {};
  std::shared_ptr<const security::TlsCredentials> tls = {};
};

// Methods are called in the order of their declaration.
class Listener {
 public:
  // Requires that stopped() holds and that all server sides were drained, or
  // that nothing was started; and that the server sides are gone.
  virtual ~Listener() = default;

  // Makes the server side of one transport, which receives requests through
  // `queue`. The queue must not be polled before Start(). The side must be
  // destroyed before this.
  virtual std::unique_ptr<ServerSide> MakeServerSide(EventQueue& queue) = 0;

  // Listens on the address, HOST:0. Returns the port, or 0 if the address is
  // not available.
  virtual int Start(const std::string& address) = 0;

  // Closes all connections. Returns early: the end requires that all queues are
  // polled and that then all server sides are closed.
  virtual void Shutdown(EventQueue& queue) = 0;

  bool stopped() const { return stopped_.notification.HasBeenNotified(); }
  void WaitUntilStopped() { stopped_.notification.WaitForNotification(); }

 protected:
  // Completed through the queue passed to Shutdown().
  Completion& stopped_completion() { return stopped_; }

 private:
  struct Stopped final : Completion {
    void OnComplete(bool, TransportEvents&) override { notification.Notify(); }
    absl::Notification notification;
  };

  Stopped stopped_;
};

// Makes a listener for calls of kGenericRpcMethod. For the server types
// "inline" and "polling" `callbacks` is null: the transports' completion queues
// are also the server's. For "handoff" requests arrive at `callbacks`, and go
// to the transports in turn. For measures_time_parts, here and below, see
// DriverEnvironment.
std::unique_ptr<Listener> MakeUnaryListener(const ChannelArguments& arguments,
                                            PoolUse pool_use,
                                            const CallbackQueue* callbacks,
                                            ListenerSecurity security,
                                            bool measures_time_parts);

// Makes a listener for the driver grpc_stream: requests are messages on
// streams, and handled inline. For max_waiting_replies, see GrpcStreamServer.
// The counts must outlive the server sides.
std::unique_ptr<Listener> MakeStreamListener(const ChannelArguments& arguments,
                                             ListenerSecurity security,
                                             bool measures_time_parts,
                                             size_t max_waiting_replies,
                                             StreamCounts& counts);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_SERVER_SIDE_H_
