// The server side of a transport in its default mode: requests arrive on the
// worker's own queue and are handled where they arrive.

#ifndef DISTBENCH_PROTOCOL_GRPC_INLINE_SERVER_H_
#define DISTBENCH_PROTOCOL_GRPC_INLINE_SERVER_H_

#include <grpc/grpc.h>

#include "distbench/base/object_pool.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/event_queue.h"
#include "distbench/protocol/grpc/unknown_method.h"

namespace distbench {

// Used by the thread that polls the queue, but for Serve().
class InlineServer {
 public:
  // The queue must outlive this.
  explicit InlineServer(EventQueue& queue);
  // Requires that drained() holds, or that the queue has run dry. Requests that
  // were not replied to are dropped.
  ~InlineServer();

  InlineServer(const InlineServer&) = delete;
  InlineServer& operator=(const InlineServer&) = delete;

  // Starts to accept requests of `method`, as grpc_server_register_method()
  // returned it. Both must live until the server was shut down. Before the
  // queue is polled.
  void Serve(grpc_server* server, void* method);

  // As Transport::Reply().
  void Reply(ServerCall* call);

  // The server is being shut down: accepts no more requests.
  void Close();

  // Whether gRPC works on nothing for this side any more.
  bool drained() const { return operations_ == 0 && unknown_method_.drained(); }

 private:
  class Request;

  void Accept();
  void OnArrival(Request& request, bool ok, TransportEvents& events);
  void OnReplied(Request& request);

  EventQueue& queue_;
  grpc_server* server_ = nullptr;
  void* method_ = nullptr;
  ObjectPool<Request> pool_;
  UnknownMethodReplies unknown_method_;
  int operations_ = 0;  // that gRPC has not completed
  bool closed_ = false;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_INLINE_SERVER_H_
