#include "test_builder/protocols/protocols.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test_builder/protocols/setup_parts.h"

namespace distbench {
namespace {

// Adds the parameter "transport" as a server setting, and to the alias.
void AddTransport(const ParameterValues& values, ProtocolSetup& setup) {
  if (!values.Has("transport")) return;
  absl::StrAppend(&setup.alias, "_", values.Text("transport"));
  AddServerText(values, "transport", setup.options);
}

// Adds the parameter as a client setting, and to the alias.
void AddToClient(const ParameterValues& values, absl::string_view name,
                 absl::string_view word, ProtocolSetup& setup) {
  if (!values.Has(name)) return;
  absl::StrAppend(&setup.alias, "_", word, values.Text(name));
  AddClientInteger(values, name, setup.options);
}

// Adds the client's settings of connections, and to the alias.
void AddConnections(const ParameterValues& values, ProtocolSetup& setup) {
  AddToClient(values, "connections", "conn", setup);
  AddToClient(values, "calls_per_connection", "calls", setup);
}

// Adds network settings of both sides, and to the alias.
void AddNetworkSettings(const ParameterValues& values, ProtocolSetup& setup) {
  if (values.Has("congestion_control")) {
    absl::StrAppend(&setup.alias, "_", values.Text("congestion_control"));
    AddClientText(values, "congestion_control", setup.options);
    AddServerText(values, "congestion_control", setup.options);
  }
  if (values.Has("dscp")) {
    absl::StrAppend(&setup.alias, "_dscp", values.Text("dscp"));
    AddClientInteger(values, "dscp", setup.options);
    AddServerInteger(values, "dscp", setup.options);
  }
}

std::vector<Parameter> WithNetworkParameters(
    std::vector<Parameter> parameters) {
  parameters.push_back(
      WordParameter("congestion_control", "",
                    "TCP's congestion control, on both sides. Default: the "
                    "hosts'."));
  parameters.push_back(IntegerParameter(
      "dscp", "", {0, 63}, "The DSCP of all packets. Default: the hosts'."));
  return parameters;
}

Parameter CallsPerConnection() {
  return IntegerParameter("calls_per_connection", "", {0},
                          "Calls after which a connection is replaced; 0 is "
                          "never. Default: 0.");
}

ProtocolSetup SetUpGrpcStream(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias = absl::StrCat("grpc_stream", IpVersionSuffix(values));
  AddTransport(values, setup);
  AddToClient(values, "streams", "streams", setup);
  AddToClient(values, "messages_per_stream", "messages", setup);
  AddToClient(values, "send_queue_messages", "queue", setup);
  AddToClient(values, "spin_us", "spin", setup);
  return setup;
}

std::vector<Parameter> GrpcStreamParameters() {
  return {
      WordParameter("transport", "",
                    "What carries gRPC: tcp or unix. Default: tcp."),
      IntegerParameter("streams", "", {1},
                       "Streams from each worker of a client to each server, "
                       "used in turn. Default: 1."),
      IntegerParameter("messages_per_stream", "", {0},
                       "Requests after which a stream is replaced; 0 is never. "
                       "Default: 0."),
      IntegerParameter("send_queue_messages", "", {1},
                       "Requests that may wait to be sent on a stream. "
                       "Default: 1024."),
      IntegerParameter("spin_us", "", {0},
                       "Microseconds that a worker with nothing to do polls "
                       "before it sleeps. Default: 0."),
  };
}

ProtocolSetup SetUpHttp2(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias = absl::StrCat("http2", IpVersionSuffix(values));
  AddTransport(values, setup);
  AddConnections(values, setup);
  if (values.Has("stream_window_bytes")) {
    absl::StrAppend(&setup.alias, "_window",
                    values.Text("stream_window_bytes"));
    AddClientInteger(values, "stream_window_bytes", setup.options);
    AddServerInteger(values, "stream_window_bytes", setup.options);
  }
  if (values.Has("max_concurrent_streams")) {
    absl::StrAppend(&setup.alias, "_streams",
                    values.Text("max_concurrent_streams"));
    AddServerInteger(values, "max_concurrent_streams", setup.options);
  }
  return setup;
}

std::vector<Parameter> Http2Parameters() {
  return {
      WordParameter("transport", "",
                    "What carries HTTP/2: tcp or unix. Default: tcp."),
      IntegerParameter("connections", "", {1},
                       "Connections from each worker of a client to each "
                       "server. Default: 1."),
      CallsPerConnection(),
      IntegerParameter("stream_window_bytes", "", {65'535},
                       "Bytes of a message that may be sent before the "
                       "receiver has said that it reads them. Default: 1 MiB."),
      IntegerParameter("max_concurrent_streams", "", {1},
                       "Requests that may be in flight on a connection. "
                       "Default: 65536."),
  };
}

ProtocolSetup SetUpCapnp(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias = absl::StrCat("capnp", IpVersionSuffix(values));
  AddTransport(values, setup);
  AddConnections(values, setup);
  AddToClient(values, "spin_us", "spin", setup);
  AddNetworkSettings(values, setup);
  return setup;
}

ProtocolSetup SetUpLibfabric(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias = absl::StrCat("libfabric", IpVersionSuffix(values));
  if (values.Has("provider")) {
    // Names of layered providers contain a semicolon.
    absl::StrAppend(&setup.alias, "_",
                    absl::StrReplaceAll(values.Text("provider"), {{";", "_"}}));
    AddServerText(values, "provider", setup.options);
  }
  if (values.Has("endpoint")) {
    absl::StrAppend(&setup.alias, "_", values.Text("endpoint"));
    AddServerText(values, "endpoint", setup.options);
  }
  for (const char* name : {"receive_buffers", "receive_buffer_bytes"}) {
    if (!values.Has(name)) continue;
    absl::StrAppend(&setup.alias, "_", values.Text(name));
    AddServerInteger(values, name, setup.options);
  }
  AddToClient(values, "spin_us", "spin", setup);
  return setup;
}

std::vector<Parameter> CapnpParameters() {
  return WithNetworkParameters({
      WordParameter("transport", "",
                    "What carries Cap'n Proto: tcp or unix. Default: tcp."),
      IntegerParameter("connections", "", {1},
                       "Connections from each worker of a client to each "
                       "server. Default: 1."),
      CallsPerConnection(),
      IntegerParameter("spin_us", "", {0},
                       "Microseconds that a worker with nothing to do polls "
                       "before it sleeps. Default: 0."),
  });
}

std::vector<Parameter> LibfabricParameters() {
  return {
      TextParameter("provider", "",
                    "libfabric's provider, as fi_info lists it. Default: tcp."),
      WordParameter("endpoint", "",
                    "Reliable datagrams, rdm, or connections, msg. Default: "
                    "rdm."),
      IntegerParameter("receive_buffers", "", {16},
                       "Buffers of each worker in which messages can arrive. "
                       "Default: 64."),
      IntegerParameter("receive_buffer_bytes", "", {4096},
                       "Size of each of these buffers. Default: 278528."),
      IntegerParameter("spin_us", "", {0},
                       "Microseconds that a worker with nothing to do polls "
                       "before it sleeps. Default: 0."),
  };
}

ProtocolSetup SetUpTcp(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias = absl::StrCat("tcp", IpVersionSuffix(values));
  AddTransport(values, setup);
  AddConnections(values, setup);
  if (values.Has("max_batch")) {
    absl::StrAppend(&setup.alias, "_batch", values.Text("max_batch"));
    AddClientInteger(values, "max_batch", setup.options);
    AddServerInteger(values, "max_batch", setup.options);
  }
  if (values.Has("spin_us")) {
    absl::StrAppend(&setup.alias, "_spin", values.Text("spin_us"));
    AddServerInteger(values, "spin_us", setup.options);
  }
  AddNetworkSettings(values, setup);
  return setup;
}

std::vector<Parameter> TcpParameters() {
  return WithNetworkParameters({
      WordParameter("transport", "",
                    "What carries the messages: tcp or unix. Default: tcp."),
      IntegerParameter("connections", "", {1},
                       "Connections from each worker of a client to each "
                       "server. Default: 1."),
      CallsPerConnection(),
      IntegerParameter("max_batch", "", {1},
                       "Requests or replies, at most, that share a write. "
                       "Default: 64."),
      IntegerParameter("spin_us", "", {0},
                       "Microseconds that a worker with nothing to do polls "
                       "before it sleeps. Default: 0."),
  });
}

ProtocolSetup SetUpThrift(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias = absl::StrCat("thrift", IpVersionSuffix(values));
  AddTransport(values, setup);
  AddConnections(values, setup);
  if (values.Has("spin_us")) {
    absl::StrAppend(&setup.alias, "_spin", values.Text("spin_us"));
    AddServerInteger(values, "spin_us", setup.options);
  }
  AddNetworkSettings(values, setup);
  return setup;
}

std::vector<Parameter> ThriftParameters() {
  return WithNetworkParameters({
      WordParameter("transport", "",
                    "What carries Thrift: tcp or unix. Default: tcp."),
      IntegerParameter("connections", "", {1},
                       "Connections from each worker of a client to each "
                       "server. Default: 1."),
      CallsPerConnection(),
      IntegerParameter("spin_us", "", {0},
                       "Microseconds that a worker with nothing to do polls "
                       "before it sleeps. Default: 0."),
  });
}

ProtocolSetup SetUpLoopback(const ParameterValues&) {
  return {.alias = "loopback", .options = {}};
}

}  // namespace

Protocol GrpcStreamProtocol() {
  return {
      .name = "grpc_stream",
      .summary = "messages on long-lived gRPC streams",
      .parameters = GrpcStreamParameters(),
      .build = &SetUpGrpcStream,
  };
}

Protocol Http2Protocol() {
  return {
      .name = "http2",
      .summary = "gRPC's wire format over HTTP/2, without gRPC",
      .parameters = Http2Parameters(),
      .build = &SetUpHttp2,
  };
}

Protocol CapnpProtocol() {
  return {
      .name = "capnp",
      .summary = "Cap'n Proto RPC",
      .parameters = CapnpParameters(),
      .build = &SetUpCapnp,
  };
}

Protocol LibfabricProtocol() {
  return {
      .name = "libfabric",
      .summary = "messages over libfabric's reliable datagrams",
      .parameters = LibfabricParameters(),
      .build = &SetUpLibfabric,
  };
}

Protocol TcpProtocol() {
  return {
      .name = "tcp",
      .summary = "messages over plain TCP connections",
      .parameters = TcpParameters(),
      .build = &SetUpTcp,
  };
}

Protocol ThriftProtocol() {
  return {
      .name = "thrift",
      .summary = "Thrift's framed transport and binary protocol",
      .parameters = ThriftParameters(),
      .build = &SetUpThrift,
  };
}

Protocol LoopbackProtocol() {
  return {
      .name = "loopback",
      .summary = "within one process, to measure distbench itself",
      .parameters = {},
      .build = &SetUpLoopback,
  };
}

}  // namespace distbench
