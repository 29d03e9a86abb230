// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The server side of a transport of the driver grpc_stream: requests arrive as
// messages on streams at the worker's own queue, and are handled where they
// arrive. RPCs that stream themselves are in streaming_requests.h.

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_STREAM_SERVER_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_STREAM_SERVER_H_

#include <grpc/grpc.h>

#include <cstddef>
#include <memory>

#include "distbench/base/object_pool.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/server/asked_call.h"
#include "distbench/protocol/grpc/server/server_side.h"
#include "distbench/protocol/grpc/server/streaming_requests.h"
#include "distbench/protocol/grpc/wire/stream_side.h"

namespace distbench::protocol {

class GrpcStreamServer final : public ServerSide, private ServerStreams {
 public:
  // Arguments passed by reference must outlive this; `source` has the calls of
  // other methods that arrive at the same queue. For measures_time_parts, see
  // DriverEnvironment. No requests are taken from a stream on which
  // max_waiting_replies wait, because the client does not read them.
  GrpcStreamServer(EventQueue& queue, const CallSource& source,
                   bool measures_time_parts, size_t max_waiting_replies,
                   StreamCounts& counts);
  ~GrpcStreamServer() override;

  void Serve(grpc_server* server, const ServedMethods& methods) override;
  void Reply(ServerCall* call) override;
  void Close() override;
  bool drained() const override {
    return ServerStreams::drained() && source_.over() && streaming_.drained();
  }
  StreamingRequests* streams() override { return &streaming_; }

 private:
  class Stream;
  struct Request;

  // ServerStreams.
  std::unique_ptr<ServerStreamSide> MakeSide() override;

  const CallSource& source_;
  const bool measures_time_parts_;
  const size_t max_waiting_replies_;
  StreamCounts& counts_;
  base::ObjectPool<Request> requests_;
  StreamingRequests streaming_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_STREAM_SERVER_H_
