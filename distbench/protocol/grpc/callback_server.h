// The server side of server_type "handoff": requests arrive in gRPC's callback
// API, on threads of gRPC that the whole process shares, and are handed off to
// a handler pool (see pooled_request.h). Those that need no thread go to their
// worker at once.

#ifndef DISTBENCH_PROTOCOL_GRPC_CALLBACK_SERVER_H_
#define DISTBENCH_PROTOCOL_GRPC_CALLBACK_SERVER_H_

#include <grpcpp/generic/async_generic_service.h>

#include <atomic>
#include <cstdint>

#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/event_queue.h"
#include "distbench/protocol/grpc/pooled_request.h"
#include "distbench/protocol/grpc/server_side.h"

namespace distbench {

class CallbackServer final : public ServerSide {
 public:
  // The queue must outlive this. gRPC's server has stopped and the pool has
  // ended before it does: once drained() holds.
  CallbackServer(EventQueue& queue, PoolUse pool_use);
  ~CallbackServer() override;

  CallbackServer(const CallbackServer&) = delete;
  CallbackServer& operator=(const CallbackServer&) = delete;

  // Takes a call of kGenericRpcMethod that this side shall handle. Any thread.
  grpc::ServerGenericBidiReactor* Accept();

  void Reply(ServerCall* call) override;
  void Close() override;
  bool drained() const override { return closed_ && inside_ == 0; }

 private:
  class Request;

  // On a thread of gRPC: takes the request in. False if the server ends.
  [[nodiscard]] bool Enter();
  void HandOver(Request& request);

  // On the worker.
  void OnHandedOver(Request& request, TransportEvents& events);
  void Drop(Request& request);

  EventQueue& queue_;
  const PoolUse pool_use_;
  LentRequests<Request> lent_;

  // Requests that have entered and that the worker has not finished. Whoever
  // enters counts itself first and looks at closed_ then; so once it is closed
  // and nobody is inside, nobody comes any more.
  std::atomic<int64_t> inside_ = 0;
  std::atomic<bool> closed_ = false;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_CALLBACK_SERVER_H_
