#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_STREAMING_REQUESTS_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_STREAMING_REQUESTS_H_

#include <grpc/grpc.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"

namespace distbench::protocol {

// The server's side of RPCs that stream: calls of kStreamingRpcMethod, which
// arrive at a worker's own queue. Used by the thread that polls the queue,
// except for Serve().
class StreamingRequests {
 public:
  // The queue must outlive this.
  explicit StreamingRequests(EventQueue& queue);
  // Requires that drained() holds.
  ~StreamingRequests();

  StreamingRequests(const StreamingRequests&) = delete;
  StreamingRequests& operator=(const StreamingRequests&) = delete;

  // Starts to accept calls of `method`, which comes from
  // grpc_server_register_method(). Call this before the queue is polled.
  void Serve(grpc_server* server, void* method);

  // As those of StreamTransport.
  int64_t Write(ServerCall& call, int64_t bytes);
  void Finish(ServerCall& call, int64_t last_message_bytes, int64_t blocked_ns);

  // As those of ServerSide.
  void Close() { closed_ = true; }
  bool drained() const { return active_ == 0; }

 private:
  class Request;

  void Accept();
  void Bury(Request& request);

  EventQueue& queue_;
  grpc_server* server_ = nullptr;
  void* method_ = nullptr;
  std::vector<std::unique_ptr<Request>> requests_;  // each knows its position
  // Those that have ended, perhaps in a function that has not returned.
  std::vector<std::unique_ptr<Request>> dead_;
  int active_ = 0;  // requests with an operation in gRPC
  bool closed_ = false;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_STREAMING_REQUESTS_H_
