#include "test_builder/protocols/protocols.h"

#include "absl/strings/str_cat.h"
#include "test_builder/protocols/setup_parts.h"

namespace distbench::test_builder {
namespace {

std::string ModeSuffix(const ParameterValues& values) {
  if (values.Text("ping_pong") == "1") return "_pingpong";
  if (values.Text("nocopy") == "1") return "_nocopy";
  return "";
}

ProtocolSetup SetUpHoma(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias = absl::StrCat(
      "homa", ModeSuffix(values), IpVersionSuffix(values), "_",
      values.Text("server_threads"), "x", values.Text("client_threads"), "x",
      values.Text("threadpool_size"), ThreadPoolTypeSuffix(values));
  for (const char* name :
       {"client_threads", "server_threads", "nocopy", "ping_pong"}) {
    AddServerInteger(values, name, setup.options);
  }
  AddThreadPool(values, setup.options);
  return setup;
}

std::vector<Parameter> HomaParameters() {
  std::vector<Parameter> parameters = {
      IntegerParameter("client_threads", "1", {1},
                       "Threads that receive responses."),
      IntegerParameter("server_threads", "1", {1},
                       "Threads that receive requests."),
      IntegerParameter("nocopy", "1", {0, 1},
                       "1: payloads are not copied out of the receive buffer."),
      IntegerParameter("ping_pong", "0", {0, 1},
                       "1: requests are answered as they came, without a "
                       "handler."),
  };
  for (Parameter& parameter : ThreadPoolParameters()) {
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

}  // namespace

Protocol HomaProtocol() {
  return {
      .name = "homa",
      .summary = "the Homa transport of a kernel that has it",
      .parameters = HomaParameters(),
      .build = &SetUpHoma,
  };
}

}  // namespace distbench::test_builder
