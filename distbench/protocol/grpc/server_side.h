#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_SIDE_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_SIDE_H_

#include "distbench/protocol/driver.h"

namespace distbench {

// The server side of a transport: how requests reach its worker, and how
// replies leave. Used by the thread that polls the transport's queue.
class ServerSide {
 public:
  // Requires that drained() holds. Requests that were not replied to are
  // dropped.
  virtual ~ServerSide() = default;

  // As Transport::Reply().
  virtual void Reply(ServerCall* call) = 0;

  // The server is being shut down: no more requests reach the worker, and
  // replies may go nowhere.
  virtual void Close() = 0;

  // Whether, after Close(), neither gRPC nor a thread of the handler pool works
  // on anything for this side any more.
  virtual bool drained() const = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_SIDE_H_
