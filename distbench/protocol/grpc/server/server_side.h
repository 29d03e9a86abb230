#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_SERVER_SIDE_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_SERVER_SIDE_H_

#include <memory>
#include <string>

#include "absl/synchronization/notification.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/callback_queue.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/server/pool_use.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/grpc/wire/stream_side.h"
#include "distbench/security/credentials.h"

namespace distbench::protocol {

class StreamingRequests;

// The server side of a transport: brings requests to its worker and sends the
// replies. Used by the thread that polls the transport's queue.
class ServerSide {
 public:
  // Requires that drained() holds. Drops requests without a reply.
  virtual ~ServerSide() = default;

  // As Transport::Reply().
  virtual void Reply(ServerCall* call) = 0;

  // Called when the server is shutting down: no more requests reach the worker,
  // and replies may be lost.
  virtual void Close() = 0;

  // Returns whether, after Close(), gRPC and the handler pool have finished all
  // work for this side.
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
  // Requires that stopped() holds or nothing was started, and that the server
  // sides are gone.
  virtual ~Listener() = default;

  // Makes the server side of one transport, which receives requests through
  // `queue`. The queue must not be polled before Start().
  virtual std::unique_ptr<ServerSide> MakeServerSide(EventQueue& queue) = 0;

  // Listens on the address, HOST:0. Returns the port, or 0 if the address is
  // not available.
  virtual int Start(const std::string& address) = 0;

  // Closes all connections. Returns early: the end requires that all queues are
  // polled and all server sides are closed.
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
