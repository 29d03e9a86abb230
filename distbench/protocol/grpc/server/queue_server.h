// The server side of a transport whose requests arrive at the worker's own
// queue. By default (server_type "inline") they are handled where they arrive.
// With a handler pool (server_type "polling") the worker leaves them to the
// pool's threads (see pooled_request.h). RPCs that stream need no pool: see
// streams().

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_QUEUE_SERVER_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_QUEUE_SERVER_H_

#include <grpc/grpc.h>

#include <string>

#include "distbench/base/object_pool.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/server/other_methods.h"
#include "distbench/protocol/grpc/server/pooled_request.h"
#include "distbench/protocol/grpc/server/server_side.h"

namespace distbench::protocol {

class QueueServer final : public ServerSide {
 public:
  // The queue must outlive this. The pool, if there is one, must end before
  // this, after drained() holds. `nonce` is the test's, for handshakes. For
  // measures_time_parts, see DriverEnvironment.
  QueueServer(EventQueue& queue, PoolUse pool_use, std::string nonce,
              bool measures_time_parts);
  ~QueueServer() override;

  QueueServer(const QueueServer&) = delete;
  QueueServer& operator=(const QueueServer&) = delete;

  // Starts to accept requests of `method`, and handshakes of
  // `handshake_method`. Both come from grpc_server_register_method(), and must
  // live until the server was shut down, as must the server. Call this before
  // the queue is polled.
  void Serve(grpc_server* server, void* method, void* handshake_method);

  void Reply(ServerCall* call) override;
  void Close() override;
  bool drained() const override {
    return operations_ == 0 && other_methods_.drained();
  }

  // RPCs that stream are handled where they arrive, so that there are none
  // with a pool.
  StreamingRequests* streams() override {
    return pool_use_.pool == nullptr ? &other_methods_.streaming() : nullptr;
  }

 private:
  class Request;

  void Accept();
  void OnArrival(Request& request, bool ok, TransportEvents& events);
  void Handle(Request& request, TransportEvents& events);
  void OnHandedOver(Request& request, TransportEvents& events);
  void OnReplied(Request& request);

  EventQueue& queue_;
  const PoolUse pool_use_;
  const bool measures_time_parts_;
  grpc_server* server_ = nullptr;
  void* method_ = nullptr;
  base::ObjectPool<Request> pool_;
  OtherMethods other_methods_;
  // Operations in gRPC, and requests that occupy a thread of the pool.
  int operations_ = 0;
  LentRequests<Request> lent_;  // those that occupy a thread of the pool
  bool closed_ = false;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_QUEUE_SERVER_H_
