// The server side of a transport of the driver grpc_stream: requests arrive as
// messages on streams at the worker's own queue, and are handled where they
// arrive. RPCs that stream themselves are in streaming_requests.h.

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_STREAM_SERVER_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_STREAM_SERVER_H_

#include <grpc/grpc.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "distbench/base/object_pool.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/server/asked_call.h"
#include "distbench/protocol/grpc/server/other_methods.h"
#include "distbench/protocol/grpc/server/server_side.h"
#include "distbench/protocol/grpc/wire/stream_side.h"

namespace distbench::protocol {

class GrpcStreamServer final : public ServerSide {
 public:
  // The queue and the counts must outlive this. `nonce` is the test's, for
  // handshakes. For measures_time_parts, see DriverEnvironment. No requests are
  // taken from a stream on which max_waiting_replies wait, because the client
  // does not read them.
  GrpcStreamServer(EventQueue& queue, std::string nonce,
                   bool measures_time_parts, size_t max_waiting_replies,
                   StreamCounts& counts);
  ~GrpcStreamServer() override;

  GrpcStreamServer(const GrpcStreamServer&) = delete;
  GrpcStreamServer& operator=(const GrpcStreamServer&) = delete;

  // As those of UnaryServer, for streams.
  static constexpr int kAhead = 16;
  void Serve(grpc_server* server, void* method, void* handshake_method);
  void Accept();

  void Reply(ServerCall* call) override;
  void Close() override;
  bool drained() const override {
    return place_.active == 0 && other_methods_.drained();
  }
  StreamingRequests* streams() override { return &other_methods_.streaming(); }

 private:
  class Stream;
  struct Request;

  void Bury(Stream& stream);

  ServerPlace place_;
  const bool measures_time_parts_;
  const size_t max_waiting_replies_;
  StreamCounts& counts_;
  void* method_ = nullptr;
  base::ObjectPool<Request> requests_;
  std::vector<std::unique_ptr<Stream>> streams_;
  // Streams that have ended, perhaps in a call that has not returned.
  std::vector<std::unique_ptr<Stream>> dead_;
  OtherMethods other_methods_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_STREAM_SERVER_H_
