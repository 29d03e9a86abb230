#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_SERVER_SIDE_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_SERVER_SIDE_H_

#include "distbench/protocol/driver.h"

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

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_SERVER_SIDE_H_
