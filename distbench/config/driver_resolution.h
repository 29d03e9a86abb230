// Which driver a service uses, and with which options.
//
// A service takes the options that it names, else those called
// "default_protocol_driver_options", else none. The options name a driver, or
// else the test's default_protocol does. Where that name is no driver, it names
// options that replace all of those before, and so on.

#ifndef DISTBENCH_CONFIG_DRIVER_RESOLUTION_H_
#define DISTBENCH_CONFIG_DRIVER_RESOLUTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/driver_catalog.h"
#include "distbench/config/driver_options.h"
#include "distbench/config/test_names.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

inline constexpr char kDefaultDriverOptions[] =
    "default_protocol_driver_options";

// How many options may follow each other, and how many drivers one another.
inline constexpr int kMaxDriverDepth = 4;

struct ResolvedDriver {
  const DriverDeclaration* driver;
  const ProtocolDriverOptions* options;  // points into the test, or to none
};

// Points into the test given to names. The error says what the name that leads
// nowhere is, or that names lead in a circle.
absl::StatusOr<ResolvedDriver> ResolveDriver(
    const DistributedSystemDescription& test, const TestNames& names,
    const ProtocolDriverOptions& options);

// As if by options that name nothing but this protocol.
absl::StatusOr<ResolvedDriver> ResolveProtocol(
    const DistributedSystemDescription& test, const TestNames& names,
    const std::string& protocol_name);

// The options that a service starts from. Requires that it names existing ones,
// if any.
const ProtocolDriverOptions& OptionsOf(const DistributedSystemDescription& test,
                                       const TestNames& names,
                                       const ServiceSpec& service);

// The drivers from the outermost to the one that decorates no other.
absl::StatusOr<std::vector<ResolvedDriver>> ResolveDriverStack(
    const DistributedSystemDescription& test, const TestNames& names,
    const ProtocolDriverOptions& options);

// The stack, with all defaults filled in. Requires that its settings passed
// validation, and a stack of at least one driver.
DriverOptions MakeDriverOptions(const std::vector<ResolvedDriver>& stack);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_DRIVER_RESOLUTION_H_
