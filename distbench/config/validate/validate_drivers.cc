// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// The longest name of a Linux network device.
constexpr int kMaxDeviceNameLength = 15;

void CheckDevice(const TestValidation& validation, const Path& path,
                 const ProtocolDriverOptions& options) {
  const std::string& device = options.netdev_name();
  if (device.size() > kMaxDeviceNameLength ||
      device.find_first_of("/ \t\n") != std::string::npos) {
    validation.Add(path.Field("netdev_name"), Quoted(device),
                   " cannot be the name of a network device; `ip link` lists "
                   "them");
  }
}

bool HasSettings(const ProtocolDriverOptions& options) {
  return !options.client_settings().empty() ||
         !options.server_settings().empty() || !options.netdev_name().empty() ||
         options.ip_version() != 0 || !options.engine().empty();
}

// Adds the settings of a decorated driver. Which of them are missing is said
// where the driver is named.
void AddSettings(const SettingsDeclaration& from, SettingsDeclaration& into) {
  for (const SettingDeclaration& setting : from.settings) {
    into.settings.push_back(setting);
    into.settings.back().required = false;
  }
  into.refused.insert(from.refused.begin(), from.refused.end());
  if (from.pass_through_prefix.empty()) return;
  into.pass_through_prefix = from.pass_through_prefix;
  into.pass_through_maxima = from.pass_through_maxima;
}

// What the drivers that share options accept together.
struct SharedOptions {
  // The outermost driver of the stack must have the options.
  SharedOptions(const ProtocolDriverOptions& options,
                const DriverStack& stack) {
    std::vector<std::string> names;
    for (const ResolvedDriver& level : stack.drivers) {
      if (level.options != &options) break;
      names.push_back(level.driver->name);
      if (names.size() == 1) {
        client_settings = level.driver->client_settings;
        server_settings = level.driver->server_settings;
      } else {
        AddSettings(level.driver->client_settings, client_settings);
        AddSettings(level.driver->server_settings, server_settings);
      }
    }
    owner = names.size() == 1
                ? absl::StrCat("driver ", Quoted(names.front()))
                : absl::StrCat("the stack of drivers ", QuotedList(names));
  }

  SettingsDeclaration client_settings;
  SettingsDeclaration server_settings;
  std::string owner;  // as in ValidateSettings()
};

// Unix sockets belong to no network device and no IP version, and have few
// network settings.
void CheckUnixTransport(const TestValidation& validation, const Path& path,
                        const ProtocolDriverOptions& options,
                        const SharedOptions& shared) {
  if (StringSetting(options.server_settings(), shared.server_settings,
                    kTransportSetting) != kUnixTransport) {
    return;
  }
  const auto refuse = [&](const Path& place) {
    validation.Add(place,
                   "has no effect on Unix sockets; remove it, or set the "
                   "server setting \"transport\" to \"tcp\"");
  };
  if (!options.netdev_name().empty()) refuse(path.Field("netdev_name"));
  if (options.ip_version() != 0) refuse(path.Field("ip_version"));
  const auto refuse_all = [&](const char* side, const NamedSettings& settings,
                              const SettingsDeclaration& declaration) {
    for (const NamedSetting& setting : settings) {
      const auto* const known = FindSetting(declaration, setting.name());
      if (known == nullptr || !known->needs_network) continue;
      refuse(path.Field(side).At(setting.name()));
    }
  };
  refuse_all("client_settings", options.client_settings(),
             shared.client_settings);
  refuse_all("server_settings", options.server_settings(),
             shared.server_settings);
}

// Checks each of the test's options, and that they lead to drivers.
class DriverCheck {
 public:
  explicit DriverCheck(const TestValidation& validation)
      : validation_(validation) {}

  void CheckAll() {
    const DistributedSystemDescription& test = validation_.test();
    std::vector<DriverStack> stacks;
    for (int i = 0; i < test.protocol_driver_options_size(); ++i) {
      stacks.push_back(Resolve(i));
      CheckOptions(i, stacks.back());
    }
    CheckDefaultProtocol();
    for (const DriverStack& stack : stacks) Report(stack);
  }

 private:
  DriverStack Resolve(int options) const {
    return ResolveDriverStack(validation_.test(), validation_.names(), options);
  }

  Path PathOf(int options) const {
    return validation_.Element("protocol_driver_options",
                               validation_.names().driver_options, options);
  }

  void CheckOptions(int index, const DriverStack& stack) {
    const ProtocolDriverOptions& options =
        validation_.test().protocol_driver_options(index);
    const Path path = PathOf(index);
    CheckDevice(validation_, path, options);
    if (stack.drivers.empty()) return;
    const ResolvedDriver& outermost = stack.drivers.front();
    if (outermost.options == &options) {
      CheckSettings(index, options, stack);
    } else if (HasSettings(options)) {
      validation_.Add(path,
                      "its settings have no effect, because the protocol leads "
                      "to the options ",
                      Quoted(outermost.options->name()),
                      ", which replace them; remove them here");
    }
  }

  void CheckSettings(int index, const ProtocolDriverOptions& options,
                     const DriverStack& stack) {
    const Path path = PathOf(index);
    const SharedOptions shared(options, stack);
    CheckUnixTransport(validation_, path, options, shared);
    const DriverDeclaration& sender = *stack.drivers.back().driver;
    if (!options.engine().empty() && sender.stays_in_process) {
      validation_.Add(path.Field("engine"), "driver ", Quoted(sender.name),
                      " stays within one process, and engines are processes of "
                      "their own; remove it");
    }
    const int64_t problems_before = validation_.problems().count();
    ValidateSettings(path.Field("client_settings"), options.client_settings(),
                     shared.client_settings, shared.owner,
                     validation_.problems());
    ValidateSettings(path.Field("server_settings"), options.server_settings(),
                     shared.server_settings, shared.owner,
                     validation_.problems());
    if (validation_.problems().count() == problems_before) return;
    // Without a valid setting no driver can be found; that is not another
    // problem.
    reported_.insert(
        {index, stack.drivers.front().driver->decorated_driver_setting});
  }

  // For services without options, the name must lead to a driver that needs no
  // options. Otherwise, default_protocol may need settings that are supplied by
  // options without a protocol_name.
  void CheckDefaultProtocol() {
    const DriverStack stack = Resolve(kNone);
    const auto& services = validation_.test().services();
    const bool is_used = std::any_of(
        services.begin(), services.end(), [this](const ServiceSpec& service) {
          return !IsOutside(service) &&
                 service.protocol_driver_options_name().empty() &&
                 OptionsOf(validation_.names(), service) == kNone;
        });
    if (is_used || stack.drivers.empty()) Report(stack);
  }

  // Reports each name once, although several chains may lead through it.
  void Report(const DriverStack& stack) {
    if (!stack.problem.has_value()) return;
    const DriverProblem& problem = *stack.problem;
    if (!reported_.insert({problem.options, problem.server_setting}).second) {
      return;
    }
    validation_.Add(PathOf(problem), problem.message);
  }

  Path PathOf(const DriverProblem& problem) const {
    if (problem.options == kNone) {
      return validation_.path().Field("default_protocol");
    }
    const Path path = PathOf(problem.options);
    if (problem.server_setting.empty()) return path.Field("protocol_name");
    return path.Field("server_settings").At(problem.server_setting);
  }

  const TestValidation& validation_;
  std::set<std::pair<int, std::string>> reported_;  // as in DriverProblem
};

// The driver that sends and receives.
struct WireDriver {
  std::string name;
  const ProtocolDriverOptions* options = nullptr;
};

// Returns nullopt if it cannot be found, which is reported elsewhere.
std::optional<WireDriver> WireDriverOf(const TestValidation& validation,
                                       const std::string& service_name) {
  const auto drivers = validation.DriversOf(service_name);
  if (drivers.empty()) return std::nullopt;
  const auto& [driver, options] = drivers.back();
  return WireDriver{
      .name = driver->alias_of.empty() ? driver->name : driver->alias_of,
      .options = options};
}

int64_t NumberSetting(const NamedSettings& settings, absl::string_view name,
                      int64_t default_value) {
  for (const NamedSetting& setting : settings) {
    if (setting.name() == name) return setting.int64_value();
  }
  return default_value;
}

// Whether RPCs between the services use the streams that stay open.
bool HasPlainRpc(const DistributedSystemDescription& test,
                 const std::string& client, const std::string& server) {
  return absl::c_any_of(test.rpc_descriptions(), [&](const RpcSpec& rpc) {
    return !rpc.has_stream() && !CallsOutside(rpc) && rpc.server() == server &&
           absl::c_linear_search(rpc.client(), client);
  });
}

// Streams that the server's gRPC does not let in would wait until others end,
// which streams of this driver do not. If `needs_own`, the RPC's calls have
// streams of their own beside those.
std::string ProblemOfStreams(const WireDriver& client, const WireDriver& server,
                             bool needs_own) {
  if (client.name != "grpc_stream") return "";
  const int64_t streams =
      NumberSetting(client.options->client_settings(), "streams", 1);
  const int64_t limit =
      NumberSetting(server.options->server_settings(),
                    "grpc.max_concurrent_streams", kMaxGrpcStreams);
  if (limit >= streams + (needs_own ? 1 : 0)) return "";
  if (needs_own) {
    return absl::StrCat(
        "opens ", streams,
        " streams on each connection (\"streams\"), and the ",
        "server lets in ", std::max<int64_t>(0, limit),
        " (\"grpc.max_concurrent_streams\"), so that this RPC, which streams, "
        "could wait for a place without end: raise the limit above "
        "\"streams\"");
  }
  return absl::StrCat(
      "opens ", streams, " streams on each connection (\"streams\"), of which ",
      "the server lets in ", std::max<int64_t>(0, limit),
      " (\"grpc.max_concurrent_streams\"); the others would wait without end: "
      "give the two settings the same value");
}

// Returns why a driver cannot talk to this one, which is of another kind.
std::string ProblemOfKinds(const WireDriver& client, const WireDriver& server,
                           const std::string& server_service) {
  return absl::StrCat("uses driver ", Quoted(client.name), ", and the server ",
                      Quoted(server_service), " uses ", Quoted(server.name),
                      "; an RPC needs the same driver on both sides");
}

void CheckBothSides(const TestValidation& validation, int rpc_index) {
  const RpcSpec& rpc = validation.test().rpc_descriptions(rpc_index);
  // The servers of others are called by gRPC, whatever drivers the test has.
  if (CallsOutside(rpc)) return;
  const auto server = WireDriverOf(validation, rpc.server());
  if (!server.has_value()) return;
  for (int i = 0; i < rpc.client_size(); ++i) {
    const auto client = WireDriverOf(validation, rpc.client(i));
    if (!client.has_value()) continue;
    const bool needs_own =
        rpc.has_stream() &&
        HasPlainRpc(validation.test(), rpc.client(i), rpc.server());
    const std::string problem =
        client->name == server->name
            ? ProblemOfStreams(*client, *server, needs_own)
            : ProblemOfKinds(*client, *server, rpc.server());
    if (problem.empty()) continue;
    validation.Add(validation.Rpc(rpc_index).Field("client").At(i), "service ",
                   Quoted(rpc.client(i)), " ", problem);
  }
}

}  // namespace

void ValidateDrivers(const TestValidation& validation) {
  const DistributedSystemDescription& test = validation.test();
  DriverCheck(validation).CheckAll();
  for (int i = 0; i < test.rpc_descriptions_size(); ++i) {
    CheckBothSides(validation, i);
  }
}

}  // namespace distbench::config
