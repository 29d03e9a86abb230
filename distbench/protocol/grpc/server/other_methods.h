// What a server answers besides the requests that its drivers measure.

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_OTHER_METHODS_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_OTHER_METHODS_H_

#include <memory>
#include <string>
#include <vector>

#include "distbench/protocol/grpc/server/asked_call.h"
#include "distbench/protocol/grpc/server/streaming_requests.h"

namespace distbench::protocol {

// The part of a server side that does not depend on its own method: the RPCs
// that stream, handshakes (channel.h), and calls of methods that nobody knows,
// which gRPC's core would otherwise let wait for a handler.
class OtherMethods {
 public:
  // The place must outlive this; those that stream use its worker's queue.
  // `nonce` is the test's.
  OtherMethods(ServerPlace& place, std::string nonce);
  // Requires that drained() holds, and that the place is not active.
  ~OtherMethods();

  OtherMethods(const OtherMethods&) = delete;
  OtherMethods& operator=(const OtherMethods&) = delete;

  // Starts to answer all but the RPCs that stream: streaming() has a Serve() of
  // its own. `handshake_method` is the result of registering kHandshakeMethod
  // with grpc_server_register_method(). Call this before the queue is polled.
  void Serve(void* handshake_method);

  StreamingRequests& streaming() { return streaming_; }

  // As those of ServerSide.
  void Close() { streaming_.Close(); }
  bool drained() const { return streaming_.drained(); }

 private:
  class Call;

  void AddCall(void* method);

  ServerPlace& place_;
  const std::string nonce_;
  StreamingRequests streaming_;
  std::vector<std::unique_ptr<Call>> calls_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_OTHER_METHODS_H_
