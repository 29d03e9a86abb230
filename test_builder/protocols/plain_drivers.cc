#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test_builder/protocols/protocols.h"
#include "test_builder/protocols/setup_parts.h"

namespace distbench::test_builder {
namespace {

using Sides = SettingParameter::Sides;
using Settings = std::vector<SettingParameter>;

// A protocol whose parameters are settings of its driver.
Protocol PlainProtocol(std::string name, std::string summary,
                       Settings settings) {
  std::vector<Parameter> parameters = ParametersOf(settings);
  auto build = [name,
                settings = std::move(settings)](const ParameterValues& values) {
    ProtocolSetup setup;
    setup.alias = absl::StrCat(name, IpVersionSuffix(values));
    AddSettings(values, settings, setup);
    return setup;
  };
  return {.name = std::move(name),
          .summary = std::move(summary),
          .parameters = std::move(parameters),
          .build = std::move(build)};
}

// The settings of a driver over TCP connections, which carry `what`: those that
// all have, its own, and those of the network.
Settings OverConnections(absl::string_view what, Settings own) {
  Settings settings = {
      TransportSetting(
          absl::StrCat("What carries ", what, ": tcp or unix. Default: tcp.")),
      ConnectionsSetting(),
      CallsPerConnectionSetting("Calls after which a connection is replaced; 0 "
                                "is never. Default: 0.")};
  for (const Settings& more : {std::move(own), SettingsOfNetwork()}) {
    settings.insert(settings.end(), more.begin(), more.end());
  }
  return settings;
}

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

Protocol Http2Protocol() {
  return PlainProtocol(
      "http2", "gRPC's wire format over HTTP/2, without gRPC",
      OverConnections(
          "HTTP/2",
          {{IntegerParameter("stream_window_bytes", "", {65'535},
                             "Bytes of a message that may be sent before the "
                             "receiver has said that it reads them. Default: "
                             "1 MiB."),
            Sides::kBoth, "window"},
           {IntegerParameter("max_concurrent_streams", "", {1},
                             "Requests that may be in flight on a connection. "
                             "Default: 65536."),
            Sides::kServer, "streams"},
           SpinSetting()}));
}

Protocol LibfabricProtocol() {
  return PlainProtocol(
      "libfabric", "messages over libfabric's reliable datagrams",
      {{TextParameter("provider", "",
                      "libfabric's provider, as fi_info lists it. Default: "
                      "tcp."),
        Sides::kServer},
       {WordParameter("endpoint", "",
                      "Reliable datagrams, rdm, or connections, msg. Default: "
                      "rdm."),
        Sides::kServer},
       {IntegerParameter("receive_buffers", "", {16},
                         "Buffers of each worker in which messages can arrive. "
                         "Default: 64."),
        Sides::kServer},
       {IntegerParameter("receive_buffer_bytes", "", {4096},
                         "Size of each of these buffers. Default: 278528."),
        Sides::kServer},
       SpinSetting()});
}

Protocol TcpProtocol() {
  return PlainProtocol(
      "tcp", "messages over plain TCP connections",
      OverConnections("the messages",
                      {{IntegerParameter("max_batch", "", {1},
                                         "Requests or replies, at most, that "
                                         "share a write. Default: 64."),
                        Sides::kBoth, "batch"},
                       SpinSetting()}));
}

Protocol ThriftProtocol() {
  return PlainProtocol("thrift",
                       "Thrift's framed transport and binary protocol",
                       OverConnections("Thrift", {SpinSetting()}));
}

Protocol LoopbackProtocol() {
  return PlainProtocol("loopback",
                       "within one process, to measure distbench itself", {});
}

}  // namespace distbench::test_builder
