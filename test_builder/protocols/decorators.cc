#include "test_builder/protocols/protocols.h"

#include "absl/strings/str_cat.h"
#include "test_builder/protocols/setup_parts.h"

namespace distbench::test_builder {
namespace {

ProtocolSetup SetUpDecorator(absl::string_view name, absl::string_view setting,
                             const ParameterValues& values) {
  ProtocolSetup setup;
  setup.alias =
      absl::StrCat(name, "_", values.Text(setting), IpVersionSuffix(values));
  AddServerText(values, setting, setup.options);
  return setup;
}

ProtocolSetup SetUpDoubleBarrel(const ParameterValues& values) {
  return SetUpDecorator("double_barrel", "next_protocol_driver", values);
}

ProtocolSetup SetUpComposableRpcCounter(const ParameterValues& values) {
  return SetUpDecorator("composable_rpc_counter", "driver_under_test", values);
}

}  // namespace

Protocol DoubleBarrelProtocol() {
  return {
      .name = "double_barrel",
      .summary = "another driver with two clients, which take turns",
      .parameters = {WordParameter("next_protocol_driver", "grpc",
                                   "The driver that does the work.")},
      .build = &SetUpDoubleBarrel,
  };
}

Protocol ComposableRpcCounterProtocol() {
  return {
      .name = "composable_rpc_counter",
      .summary = "another driver, with its RPCs counted",
      .parameters = {WordParameter("driver_under_test", "grpc",
                                   "The driver that does the work.")},
      .build = &SetUpComposableRpcCounter,
  };
}

}  // namespace distbench::test_builder
