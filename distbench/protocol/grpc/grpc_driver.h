// RPCs over gRPC: data_plane.proto's service Traffic, over gRPC's core API with
// raw byte buffers, so that protobuf has no part in it.

#ifndef DISTBENCH_PROTOCOL_GRPC_GRPC_DRIVER_H_
#define DISTBENCH_PROTOCOL_GRPC_GRPC_DRIVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "distbench/config/driver_options.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_environment.h"

namespace distbench {

// The error names the setting that is wrong.
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeGrpcDriver(
    const DriverOptions& options, const DriverEnvironment& environment);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_GRPC_DRIVER_H_
