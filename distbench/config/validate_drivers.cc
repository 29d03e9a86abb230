#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/driver_resolution.h"
#include "distbench/config/suggest.h"
#include "distbench/config/validators.h"

namespace distbench {
namespace {

// Longest name that Linux gives a network device.
constexpr int kMaxDeviceNameLength = 15;

// Adds a problem if `protocol` is neither a driver that is built in nor the
// name of options.
void CheckProtocol(const TestValidation& validation, const Path& path,
                   const std::string& protocol) {
  if (const DriverDeclaration* driver = FindDriver(protocol)) {
    if (driver->built_in) return;
    validation.Add(path, absl::StrCat("driver ", Quoted(protocol),
                                      " is not built into this distbench; "
                                      "available are ",
                                      QuotedList(BuiltInDriverNames())));
    return;
  }
  // Where those options lead is checked with them.
  if (validation.names().driver_options.Find(protocol) != kNone) return;
  validation.Add(path, std::string(ResolveProtocol(validation.test(),
                                                   validation.names(), protocol)
                                       .status()
                                       .message()));
}

void CheckDevice(const TestValidation& validation, const Path& path,
                 const ProtocolDriverOptions& options) {
  const int version = options.ip_version();
  if (version != 0 && version != 4 && version != 6) {
    validation.Add(path.Field("ip_version"),
                   absl::StrCat(version,
                                " is no version of IP; must be 4 or 6, or 0 "
                                "for the host's choice"));
  }
  const std::string& device = options.netdev_name();
  if (device.size() > kMaxDeviceNameLength ||
      device.find_first_of("/ \t\n") != std::string::npos) {
    validation.Add(path.Field("netdev_name"),
                   absl::StrCat(Quoted(device),
                                " can not be the name of a network device; "
                                "`ip link` lists them"));
  }
}

bool HasSettings(const ProtocolDriverOptions& options) {
  return !options.client_settings().empty() ||
         !options.server_settings().empty() || !options.netdev_name().empty() ||
         options.ip_version() != 0;
}

void CheckDriverSettings(const TestValidation& validation, const Path& path,
                         const ProtocolDriverOptions& options,
                         const DriverDeclaration& driver) {
  const std::string owner = absl::StrCat("driver ", Quoted(driver.name));
  ValidateSettings(path.Field("client_settings"), options.client_settings(),
                   driver.client_settings, owner, validation.problems());
  ValidateSettings(path.Field("server_settings"), options.server_settings(),
                   driver.server_settings, owner, validation.problems());
  const std::string& decorated = driver.decorated_driver_setting;
  if (decorated.empty()) return;
  const std::string next = StringSetting(options.server_settings(),
                                         driver.server_settings, decorated);
  if (next.empty()) return;
  const Path place = path.Field("server_settings").At(decorated);
  CheckProtocol(validation, place, next);
}

void CheckOptions(const TestValidation& validation, int index) {
  const ProtocolDriverOptions& options =
      validation.test().protocol_driver_options(index);
  const Path path = validation.Element(
      "protocol_driver_options", validation.names().driver_options, index);
  if (!options.protocol_name().empty()) {
    CheckProtocol(validation, path.Field("protocol_name"),
                  options.protocol_name());
  }
  CheckDevice(validation, path, options);
  const auto resolved =
      ResolveDriver(validation.test(), validation.names(), options);
  if (!resolved.ok()) {
    // A name that leads nowhere was reported where it stands.
    if (resolved.status().code() == absl::StatusCode::kInvalidArgument) {
      validation.Add(path, std::string(resolved.status().message()));
    }
    return;
  }
  if (resolved->options != &options) {
    if (HasSettings(options)) {
      validation.Add(
          path, absl::StrCat("its settings have no effect, as the protocol "
                             "leads to the options ",
                             Quoted(resolved->options->name()),
                             ", which replace them; remove them here"));
    }
    return;
  }
  // Of others the settings are not known.
  if (!resolved->driver->built_in) return;
  CheckDriverSettings(validation, path, options, *resolved->driver);
  const auto stack =
      ResolveDriverStack(validation.test(), validation.names(), options);
  if (stack.status().code() == absl::StatusCode::kInvalidArgument) {
    validation.Add(path, std::string(stack.status().message()));
  }
}

// The name of the driver that sends and receives in the end; empty if that is a
// problem elsewhere.
std::string WireDriverOf(const TestValidation& validation,
                         const std::string& service_name) {
  const int service = validation.names().services.Find(service_name);
  if (service == kNone) return "";
  const auto stack =
      ResolveDriverStack(validation.test(), validation.names(),
                         OptionsOf(validation.test(), validation.names(),
                                   validation.test().services(service)));
  if (!stack.ok()) return "";
  const DriverDeclaration& driver = *stack->back().driver;
  return driver.alias_of.empty() ? driver.name : driver.alias_of;
}

// Drivers understand their own kind only.
void CheckBothSides(const TestValidation& validation, int rpc_index) {
  const RpcSpec& rpc = validation.test().rpc_descriptions(rpc_index);
  const std::string server_driver = WireDriverOf(validation, rpc.server());
  if (server_driver.empty()) return;
  for (int i = 0; i < rpc.client_size(); ++i) {
    const std::string client_driver = WireDriverOf(validation, rpc.client(i));
    if (client_driver.empty() || client_driver == server_driver) continue;
    validation.Add(
        validation.Rpc(rpc_index).Field("client").At(i),
        absl::StrCat("service ", Quoted(rpc.client(i)), " uses driver ",
                     Quoted(client_driver), ", and the server ",
                     Quoted(rpc.server()), " uses ", Quoted(server_driver),
                     "; an RPC needs the same driver on both sides"));
  }
}

}  // namespace

void ValidateDrivers(const TestValidation& validation) {
  const DistributedSystemDescription& test = validation.test();
  CheckProtocol(validation, validation.path().Field("default_protocol"),
                test.default_protocol());
  for (int i = 0; i < test.protocol_driver_options_size(); ++i) {
    CheckOptions(validation, i);
  }
  for (int i = 0; i < test.services_size(); ++i) {
    validation.ResolveOptional(
        validation.Service(i).Field("protocol_driver_options_name"),
        "protocol_driver_options entry",
        test.services(i).protocol_driver_options_name(),
        validation.names().driver_options);
  }
  for (int i = 0; i < test.rpc_descriptions_size(); ++i) {
    CheckBothSides(validation, i);
  }
}

}  // namespace distbench
