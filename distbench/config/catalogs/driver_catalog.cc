#include "distbench/config/catalogs/driver_catalog.h"

#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/plugins.h"
#include "distbench/config/catalogs/driver_settings.h"
#include "distbench/config/catalogs/grpc_declarations.h"
#include "distbench/config/problems/suggest.h"

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

DriverDeclaration Tcp() {
  return DriverOverConnections(
      "tcp",
      "RPCs in frames over plain TCP connections, to show what a machine can "
      "do "
      "without an RPC stack.",
      {LimitedSetting(kTcpMaxBatch,
                      "Maximum number of requests gathered before they are "
                      "written to a connection; those of one turn of the "
                      "worker's loop share a write. With 1, each is written at "
                      "once."),
       ZeroCopySetting()},
      {LimitedSetting(kTcpMaxBatch, "Same, for replies."), ZeroCopySetting()});
}

DriverDeclaration Loopback() {
  return {
      .name = "loopback",
      .description =
          "Delivers RPCs inside one process, without sockets: for measuring "
          "and "
          "testing distbench itself.",
      .stays_in_process = true,
      .streams = true,
      .cancels_calls = true,
      .breaks_connections = true,
      .client_settings = {.settings = {},
                          .refused =
                              NoCallsPerConnection("it has no connections")},
      .channel_settings = ChannelSettings(),
      .files =
          [](const DriverOptions&) {
            return DriverFiles{.has_connections = false};
          },
  };
}

// Drivers that others have and this program has not.
std::vector<DriverDeclaration> NotBuiltIn() {
  return {
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

// The tcp driver and those of products, by name.
std::vector<DriverDeclaration> TcpAndOthers() {
  std::map<std::string, DriverDeclaration> by_name = {{"tcp", Tcp()}};
  for (const auto& [name, driver] : base::Plugins<DriverDeclaration>::All()) {
    by_name.emplace(name, *driver);
  }
  std::vector<DriverDeclaration> drivers;
  for (auto& [name, driver] : by_name) drivers.push_back(std::move(driver));
  return drivers;
}

bool Has(const SettingsDeclaration& side, const std::string& name) {
  return absl::c_any_of(side.settings, [&](const SettingDeclaration& setting) {
    return setting.name == name;
  });
}

// Returns `"a", "b" or "c"`: the drivers with that setting on one of their
// sides.
std::string DriversWith(const std::string& setting,
                        const std::vector<DriverDeclaration>& catalog) {
  std::vector<std::string> names;
  for (const DriverDeclaration& driver : catalog) {
    const bool has_it = Has(driver.client_settings, setting) ||
                        Has(driver.server_settings, setting);
    if (has_it && driver.alias_of.empty()) names.push_back(Quoted(driver.name));
  }
  if (names.size() < 2) return absl::StrJoin(names, "");
  const std::string last = std::move(names.back());
  names.pop_back();
  return absl::StrCat(absl::StrJoin(names, ", "), " or ", last);
}

// Adds to the reasons of what a driver refuses which drivers do not.
void AddDriversToUse(const std::vector<DriverDeclaration>& catalog,
                     std::map<std::string, std::string>& refused) {
  for (auto& [setting, reason] : refused) {
    const std::string drivers = DriversWith(setting, catalog);
    if (!drivers.empty()) {
      absl::StrAppend(&reason, "; use the driver ", drivers);
    }
  }
}

std::vector<DriverDeclaration> MakeCatalog() {
  std::vector<DriverDeclaration> catalog = GrpcDeclarations();
  const auto add = [&catalog](std::vector<DriverDeclaration> drivers) {
    absl::c_move(drivers, std::back_inserter(catalog));
  };
  add(TcpAndOthers());
  add({Loopback(),
       Decorator("double_barrel",
                 "Sends RPCs through two clients of another driver in turn; "
                 "they share one server.",
                 "next_protocol_driver"),
       Decorator("composable_rpc_counter",
                 "Counts the RPCs that another driver sends and receives; the "
                 "counts are in the result and in its summary.",
                 "driver_under_test")});
  add(NotBuiltIn());
  for (DriverDeclaration& driver : catalog) {
    AddDriversToUse(catalog, driver.client_settings.refused);
    AddDriversToUse(catalog, driver.server_settings.refused);
  }
  return catalog;
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
