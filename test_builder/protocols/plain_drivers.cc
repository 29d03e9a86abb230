#include "test_builder/protocols/protocols.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "test_builder/protocols/setup_parts.h"

namespace distbench {
namespace {

// Adds the parameter as a client setting, and to the alias.
void AddToClient(const ParameterValues& values, absl::string_view name,
                 absl::string_view word, ProtocolSetup& setup) {
  if (!values.Has(name)) return;
  absl::StrAppend(&setup.alias, "_", word, values.Text(name));
  AddClientInteger(values, name, setup.options);
}

ProtocolSetup SetUpGrpcStream(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias = absl::StrCat("grpc_stream", IpVersionSuffix(values));
  if (values.Has("transport")) {
    absl::StrAppend(&setup.alias, "_", values.Text("transport"));
    AddServerText(values, "transport", setup.options);
  }
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

ProtocolSetup SetUpTcp(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias = absl::StrCat("tcp", IpVersionSuffix(values));
  if (values.Has("transport")) {
    absl::StrAppend(&setup.alias, "_", values.Text("transport"));
    AddServerText(values, "transport", setup.options);
  }
  if (values.Has("connections")) {
    absl::StrAppend(&setup.alias, "_conn", values.Text("connections"));
    AddClientInteger(values, "connections", setup.options);
  }
  if (values.Has("max_batch")) {
    absl::StrAppend(&setup.alias, "_batch", values.Text("max_batch"));
    AddClientInteger(values, "max_batch", setup.options);
    AddServerInteger(values, "max_batch", setup.options);
  }
  if (values.Has("spin_us")) {
    absl::StrAppend(&setup.alias, "_spin", values.Text("spin_us"));
    AddServerInteger(values, "spin_us", setup.options);
  }
  return setup;
}

std::vector<Parameter> TcpParameters() {
  return {
      WordParameter("transport", "",
                    "What carries the messages: tcp or unix. Default: tcp."),
      IntegerParameter("connections", "", {1},
                       "Connections from each worker of a client to each "
                       "server. Default: 1."),
      IntegerParameter("max_batch", "", {1},
                       "Requests or replies, at most, that share a write. "
                       "Default: 64."),
      IntegerParameter("spin_us", "", {0},
                       "Microseconds that a worker with nothing to do polls "
                       "before it sleeps. Default: 0."),
  };
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

Protocol TcpProtocol() {
  return {
      .name = "tcp",
      .summary = "messages over plain TCP connections",
      .parameters = TcpParameters(),
      .build = &SetUpTcp,
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
