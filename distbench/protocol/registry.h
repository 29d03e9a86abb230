#ifndef DISTBENCH_PROTOCOL_REGISTRY_H_
#define DISTBENCH_PROTOCOL_REGISTRY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/config/driver_options.h"
#include "distbench/protocol/driver.h"

namespace distbench {

// What a node knows when it makes a driver.
struct DriverEnvironment {
  // Address that peers use for this host; empty: found from the options'
  // netdev and ip_version, else the host's best address.
  std::string service_address;
};

// Makes the driver that options.driver names. The error lists the drivers that
// there are.
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeProtocolDriver(
    const DriverOptions& options, const DriverEnvironment& environment);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_REGISTRY_H_
