// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_STREAMING_REQUESTS_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_STREAMING_REQUESTS_H_

#include <cstdint>
#include <memory>

#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/wire/stream_side.h"

namespace distbench::protocol {

// The server's side of RPCs that stream: calls of kStreamingRpcMethod.
class StreamingRequests final : public ServerStreams {
 public:
  explicit StreamingRequests(EventQueue& queue);

  // As those of StreamTransport.
  int64_t Write(ServerCall& call, int64_t bytes);
  void Finish(ServerCall& call, int64_t last_message_bytes, int64_t blocked_ns);

 private:
  class Request;

  std::unique_ptr<ServerStreamSide> MakeSide() override;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_STREAMING_REQUESTS_H_
