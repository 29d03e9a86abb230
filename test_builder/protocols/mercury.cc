#include "test_builder/protocols/protocols.h"

#include "absl/strings/str_cat.h"
#include "test_builder/protocols/setup_parts.h"

namespace distbench::test_builder {
namespace {

constexpr char kDefaultTransport[] = "ofi+tcp";

ProtocolSetup SetUpMercury(const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias = absl::StrCat(
      "mercury_", values.Text("transport"), IpVersionSuffix(values),
      ThreadPoolTypeSuffix(values), ThreadPoolSizeSuffix(values));
  NamedSetting& init = *setup.options.add_server_settings();
  init.set_name("hg_init_info_string");
  const std::string& transport = values.Text("transport");
  // Users' transports are passed on as they are; the default is the driver's,
  // which replaces the placeholder by its own address.
  init.set_string_value(transport == kDefaultTransport
                            ? absl::StrCat(transport, "://__SERVER_IP__")
                            : transport);
  AddThreadPool(values, setup.options);
  return setup;
}

std::vector<Parameter> MercuryParameters() {
  std::vector<Parameter> parameters = {
      WordParameter("transport", kDefaultTransport,
                    "Mercury's plugin and protocol, passed on as it is."),
  };
  for (Parameter& parameter : ThreadPoolParameters()) {
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

}  // namespace

Protocol MercuryProtocol() {
  return {
      .name = "mercury",
      .summary = "the Mercury RPC framework, over IPv4",
      .parameters = MercuryParameters(),
      .build = &SetUpMercury,
  };
}

}  // namespace distbench::test_builder
