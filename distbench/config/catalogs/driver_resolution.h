// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Determines which driver a service uses, and with which options. Validation
// and compilation share this code, so they always agree.
//
// A service uses the options that it names; otherwise those called
// "default_protocol_driver_options", if they exist; otherwise none. The options
// name a driver; if they do not, the test's default_protocol does. If that name
// is not a driver, it names other options, which replace the previous ones, and
// so on.
//
// A decorator names the driver that it decorates in the same way. If it names a
// driver rather than options, the driver shares the options of the decorator:
// each takes the settings that it declares.

#ifndef DISTBENCH_CONFIG_CATALOGS_DRIVER_RESOLUTION_H_
#define DISTBENCH_CONFIG_CATALOGS_DRIVER_RESOLUTION_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/config/plan/plan.h"
#include "distbench/config/plan/test_names.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

inline constexpr char kDefaultDriverOptions[] =
    "default_protocol_driver_options";

// The longest chain of options that a name may follow, and the deepest nesting
// of decorators.
inline constexpr int kMaxDriverDepth = 4;

struct ResolvedDriver {
  const DriverDeclaration* driver;
  // Points into the test, or to empty options. A driver and those that it
  // decorates may share them.
  const ProtocolDriverOptions* options;
};

// Why no driver could be found, and which name in the test is at fault.
struct DriverProblem {
  // Index of the options that contain the name; kNone for the test's
  // default_protocol.
  int options = kNone;

  // The server setting whose value is the name. Empty if the name is a
  // protocol_name.
  std::string server_setting;

  std::string message;  // "what is wrong; what would be right"
};

struct DriverStack {
  // From the outermost decorator to the driver that sends. All are built in.
  std::vector<ResolvedDriver> drivers;

  // If set, `drivers` holds the drivers found before the problem.
  std::optional<DriverProblem> problem;
};

// Index of the options that a service starts from; kNone if it has none. If the
// service names options, they must exist.
int OptionsOf(const TestNames& names, const ServiceSpec& service);

// Resolves the drivers, starting from the options with this index (kNone: from
// no options). The result points into `test`. `names` must belong to `test`.
DriverStack ResolveDriverStack(const DistributedSystemDescription& test,
                               const TestNames& names, int options);

// The drivers of a service, from the outermost decorator to the driver that
// sends; none if they have a problem.
std::vector<ResolvedDriver> DriversOf(const DistributedSystemDescription& test,
                                      const TestNames& names,
                                      const ServiceSpec& service);

// The services whose instances reach only instances in their own process, so
// that all of them share one. Names that cannot be resolved are left out.
std::set<std::string> ServicesInOneProcess(
    const DistributedSystemDescription& test);

// Returns the drivers with all defaults filled in. Requires at least one, and
// that their settings passed validation.
DriverOptions MakeDriverOptions(const std::vector<ResolvedDriver>& drivers);

// The engine that hosts services with these drivers, from the outermost: the
// first that their options name. Empty: none, which is the node's own program.
std::string EngineOf(const std::vector<ResolvedDriver>& drivers);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_DRIVER_RESOLUTION_H_
