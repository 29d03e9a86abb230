#include "distbench/config/catalogs/driver_catalog.h"

#include <string>
#include <vector>

#include "distbench/config/catalogs/driver_declarations.h"
#include "distbench/config/catalogs/driver_settings.h"

namespace distbench::config {
namespace {

DriverDeclaration Decorator(const std::string& name,
                            const std::string& description,
                            const std::string& setting) {
  return {
      .name = name,
      .description = description,
      .cancels_calls = true,
      .breaks_connections = true,
      .server_settings = {.settings = {{
                              .name = setting,
                              .description =
                                  "The driver that is decorated, or the name "
                                  "of protocol_driver_options.",
                              .default_value = "",
                              .required = true,
                          }}},
      .decorated_driver_setting = setting,
  };
}

std::vector<DriverDeclaration> MakeCatalog() {
  return {
      GrpcDeclaration(),
      GrpcAsyncCallbackDeclaration(),
      GrpcStreamDeclaration(),
      Http2Declaration(),
      LibfabricDeclaration(),
      TcpDeclaration(),
      ThriftDeclaration(),
      {
          .name = "loopback",
          .description =
              "Delivers RPCs inside one process, without sockets: for "
              "measuring and testing distbench itself.",
          .stays_in_process = true,
          .streams = true,
          .cancels_calls = true,
          .breaks_connections = true,
          .client_settings = {.settings = {},
                              .refused = NoCallsPerConnection(
                                  "it has no connections")},
          .channel_settings = ChannelSettings(),
      },
      Decorator("double_barrel",
                "Sends RPCs through two clients of another driver in turn; "
                "they share one server.",
                "next_protocol_driver"),
      Decorator("composable_rpc_counter",
                "Counts the RPCs that another driver sends and receives; the "
                "counts are in the result and in its summary.",
                "driver_under_test"),
      {
          .name = "homa",
          .description = "The Homa transport, which needs a kernel module.",
          .built_in = false,
      },
      {
          .name = "mercury",
          .description = "The Mercury RPC framework.",
          .built_in = false,
      },
  };
}

}  // namespace

absl::Span<const DriverDeclaration> DriverCatalog() {
  static const auto* const catalog =
      new std::vector<DriverDeclaration>(MakeCatalog());
  return *catalog;
}

const DriverDeclaration* FindDriver(absl::string_view name) {
  for (const DriverDeclaration& driver : DriverCatalog()) {
    if (driver.name == name) return &driver;
  }
  return nullptr;
}

std::vector<std::string> BuiltInDriverNames() {
  std::vector<std::string> names;
  for (const DriverDeclaration& driver : DriverCatalog()) {
    if (driver.built_in) names.push_back(driver.name);
  }
  return names;
}

}  // namespace distbench::config
