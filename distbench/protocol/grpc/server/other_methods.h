// What a server answers besides the requests that its drivers measure.

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_OTHER_METHODS_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_OTHER_METHODS_H_

#include <grpc/grpc.h>

#include <memory>
#include <string>
#include <vector>

#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/server/streaming_requests.h"

namespace distbench::protocol {

// The part of a server side that does not depend on its own method: the RPCs
// that stream, handshakes (channel.h), and calls of methods that nobody knows,
// which gRPC's core would otherwise let wait for a handler. All arrive at a
// worker's own queue. Used by the thread that polls the queue, except for
// Serve().
class OtherMethods {
 public:
  // The queue must outlive this. `nonce` is the test's.
  OtherMethods(EventQueue& queue, std::string nonce);
  // Requires that drained() holds.
  ~OtherMethods();

  OtherMethods(const OtherMethods&) = delete;
  OtherMethods& operator=(const OtherMethods&) = delete;

  // Starts to answer all but the RPCs that stream: streaming() has a Serve() of
  // its own. `handshake_method` is the result of registering kHandshakeMethod
  // with grpc_server_register_method(). Call this before the queue is polled.
  void Serve(grpc_server* server, void* handshake_method);

  StreamingRequests& streaming() { return streaming_; }

  // As those of ServerSide.
  void Close();
  bool drained() const { return active_ == 0 && streaming_.drained(); }

 private:
  class Call;

  void AddCall(grpc_server* server, void* method);

  EventQueue& queue_;
  const std::string nonce_;
  StreamingRequests streaming_;
  bool closed_ = false;
  int active_ = 0;  // calls with an operation in gRPC
  std::vector<std::unique_ptr<Call>> calls_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_OTHER_METHODS_H_
