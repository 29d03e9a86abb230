#include "test_builder/protocols/protocols.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "test_builder/protocols/setup_parts.h"

namespace distbench::test_builder {
namespace {

// What the thread pool precedes.
std::vector<SettingParameter> GrpcSettings() {
  return {
      TransportSetting("What carries gRPC: tcp, unix or homa. Default: tcp."),
      {IntegerParameter("channels", "", {1},
                        "Connections from each worker of a client to each "
                        "server, used in turn. Default: 1."),
       SettingParameter::Sides::kClient, "chan"},
      CallsPerConnectionSetting("Calls after which a channel is replaced, with "
                                "its connection; 0 is never. Default: 0."),
      SpinSetting()};
}

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
  AddClientText(values, "client_type", setup.options);
  AddSettings(values, GrpcSettings(), setup);
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
  for (auto& more : {ThreadPoolParameters(), ParametersOf(GrpcSettings())}) {
    parameters.insert(parameters.end(), more.begin(), more.end());
  }
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

}  // namespace distbench::test_builder
