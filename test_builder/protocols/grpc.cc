#include "test_builder/protocols/protocols.h"

#include "absl/strings/str_cat.h"
#include "test_builder/protocols/setup_parts.h"

namespace distbench {
namespace {

ProtocolSetup SetUpGrpc(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias =
      absl::StrCat("grpc_", values.Text("client_type"), "_",
                   values.Text("server_type"), IpVersionSuffix(values));
  AddServerText(values, "server_type", setup.options);
  // Inline handlers run in the driver's threads, so there is no pool.
  if (values.Text("server_type") != "inline") {
    absl::StrAppend(&setup.alias, ThreadPoolTypeSuffix(values),
                    ThreadPoolSizeSuffix(values));
    AddThreadPool(values, setup.options);
  }
  if (values.Has("transport")) {
    absl::StrAppend(&setup.alias, "_", values.Text("transport"));
    AddServerText(values, "transport", setup.options);
  }
  AddClientText(values, "client_type", setup.options);
  if (values.Has("channels")) {
    absl::StrAppend(&setup.alias, "_chan", values.Text("channels"));
    AddClientInteger(values, "channels", setup.options);
  }
  if (values.Has("calls_per_connection")) {
    absl::StrAppend(&setup.alias, "_calls",
                    values.Text("calls_per_connection"));
    AddClientInteger(values, "calls_per_connection", setup.options);
  }
  if (values.Has("spin_us")) {
    absl::StrAppend(&setup.alias, "_spin", values.Text("spin_us"));
    AddServerInteger(values, "spin_us", setup.options);
  }
  return setup;
}

std::vector<Parameter> GrpcParameters() {
  std::vector<Parameter> parameters = {
      ChoiceParameter("client_type", "polling", {"polling", "callback"},
                      "How the client waits for responses: on its completion "
                      "queue, or by gRPC's callbacks."),
      ChoiceParameter("server_type", "inline", {"inline", "handoff", "polling"},
                      "Where handlers run: in the thread that received the "
                      "request, or in a pool behind gRPC's callbacks (handoff) "
                      "or behind its completion queue (polling)."),
  };
  for (Parameter& parameter : ThreadPoolParameters()) {
    parameters.push_back(std::move(parameter));
  }
  parameters.push_back(WordParameter(
      "transport", "", "What carries gRPC: tcp, unix or homa. Default: tcp."));
  parameters.push_back(IntegerParameter(
      "channels", "", {1},
      "Connections from each worker of a client to each server, used in turn. "
      "Default: 1."));
  parameters.push_back(IntegerParameter(
      "calls_per_connection", "", {0},
      "Calls after which a channel is replaced, with its connection; 0 is "
      "never. Default: 0."));
  parameters.push_back(IntegerParameter(
      "spin_us", "", {0},
      "Microseconds that a worker with nothing to do polls before it sleeps. "
      "Default: 0."));
  return parameters;
}

}  // namespace

Protocol GrpcProtocol() {
  return {
      .name = "grpc",
      .summary = "gRPC over TCP; used where no driver is named",
      .parameters = GrpcParameters(),
      .build = &SetUpGrpc,
  };
}

}  // namespace distbench
