// The server side for server_type "handoff". Requests arrive through gRPC's
// callback API, on threads of gRPC that the whole process shares, and are
// handed off to a handler pool (see pooled_request.h). Requests that need no
// thread go to their worker directly.

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_CALLBACK_SERVER_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_CALLBACK_SERVER_H_

#include <grpcpp/generic/async_generic_service.h>

#include <atomic>
#include <cstdint>

#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/server/pooled_request.h"
#include "distbench/protocol/grpc/server/server_side.h"

namespace distbench::protocol {

class CallbackServer final : public ServerSide {
 public:
  // The queue must outlive this. gRPC's server must have stopped, and the pool
  // must have ended, before this is destroyed, after drained() holds. For
  // measures_time_parts, see DriverEnvironment.
  CallbackServer(EventQueue& queue, PoolUse pool_use, bool measures_time_parts);
  ~CallbackServer() override;

  CallbackServer(const CallbackServer&) = delete;
  CallbackServer& operator=(const CallbackServer&) = delete;

  // Takes a call of kGenericRpcMethod for this side. Any thread may call it.
  grpc::ServerGenericBidiReactor* Accept();

  void Reply(ServerCall* call) override;
  void Close() override;
  bool drained() const override { return closed_ && inside_ == 0; }

 private:
  class Request;

  // Takes the request in, on a thread of gRPC. Returns false if the server
  // ends.
  [[nodiscard]] bool Enter();
  void HandOver(Request& request);

  // These run on the worker.
  void OnHandedOver(Request& request, TransportEvents& events);
  void Drop(Request& request);

  EventQueue& queue_;
  const PoolUse pool_use_;
  const bool measures_time_parts_;
  LentRequests<Request> lent_;

  // Requests that have entered and not been finished by the worker. A request
  // counts itself before it looks at closed_. So once closed_ is set and the
  // count is 0, no request can follow.
  std::atomic<int64_t> inside_ = 0;
  std::atomic<bool> closed_ = false;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_CALLBACK_SERVER_H_
