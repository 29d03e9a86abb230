#include "test_builder/protocols/protocols.h"
#include "test_builder/protocols/setup_parts.h"

namespace distbench::test_builder {
namespace {

using Sides = SettingParameter::Sides;
}  // namespace

Protocol GrpcStreamProtocol() {
  return PlainProtocol(
      "grpc_stream", "messages on long-lived gRPC streams",
      {TransportSetting("What carries gRPC: tcp or unix. Default: tcp."),
       {IntegerParameter("streams", "", {1},
                         "Streams from each worker of a client to each "
                         "server, used in turn. Default: 1."),
        Sides::kClient, "streams"},
       {IntegerParameter("messages_per_stream", "", {0},
                         "Requests after which a stream is replaced; 0 is "
                         "never. Default: 0."),
        Sides::kClient, "messages"},
       {IntegerParameter("send_queue_messages", "", {1},
                         "Requests that may wait to be sent on a stream. "
                         "Default: 1024."),
        Sides::kClient, "queue"},
       SpinSetting()});
}

Protocol TcpProtocol() {
  return PlainProtocol(
      "tcp", "messages over plain TCP connections",
      SettingsOverConnections(
          "the messages",
          {{IntegerParameter("max_batch", "", {1},
                             "Requests or replies, at most, that "
                             "share a write. Default: 64."),
            Sides::kBoth, "batch"},
           SpinSetting()}));
}

Protocol LoopbackProtocol() {
  return PlainProtocol("loopback",
                       "within one process, to measure distbench itself", {});
}

}  // namespace distbench::test_builder
