#ifndef DISTBENCH_PROTOCOL_REGISTRY_REGISTRY_H_
#define DISTBENCH_PROTOCOL_REGISTRY_REGISTRY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_environment.h"

namespace distbench {

// Makes the driver that options.driver names. The error lists the drivers that
// there are.
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeProtocolDriver(
    const DriverOptions& options, const DriverEnvironment& environment);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_REGISTRY_REGISTRY_H_
