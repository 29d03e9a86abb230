#include "test_builder/protocols/protocols.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "test_builder/protocols/setup_parts.h"

namespace distbench {
namespace {

ProtocolSetup SetUpHttp2(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias = absl::StrCat("http2", IpVersionSuffix(values));
  if (values.Has("connections")) {
    absl::StrAppend(&setup.alias, "_conn", values.Text("connections"));
    AddClientInteger(values, "connections", setup.options);
  }
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
      IntegerParameter("connections", "", {1},
                       "Connections from each worker of a client to each "
                       "server. Default: 1."),
      IntegerParameter("stream_window_bytes", "", {65'535},
                       "Bytes of a message that may be sent before the "
                       "receiver has said that it reads them. Default: 1 MiB."),
      IntegerParameter("max_concurrent_streams", "", {1},
                       "Requests that may be in flight on a connection. "
                       "Default: 65536."),
  };
}

ProtocolSetup SetUpTcp(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias = absl::StrCat("tcp", IpVersionSuffix(values));
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

Protocol Http2Protocol() {
  return {
      .name = "http2",
      .summary = "gRPC's wire format over HTTP/2, without gRPC",
      .parameters = Http2Parameters(),
      .build = &SetUpHttp2,
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
