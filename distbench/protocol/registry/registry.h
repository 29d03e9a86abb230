#ifndef DISTBENCH_PROTOCOL_REGISTRY_REGISTRY_H_
#define DISTBENCH_PROTOCOL_REGISTRY_REGISTRY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_environment.h"

namespace distbench {

// Makes the driver named by options.driver. The error lists the available
// drivers.
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeProtocolDriver(
    const DriverOptions& options, const DriverEnvironment& environment);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_REGISTRY_REGISTRY_H_
