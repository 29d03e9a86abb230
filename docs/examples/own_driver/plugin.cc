// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What makes the driver known to the program that it is linked into.

#include <memory>

#include "absl/status/statusor.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/protocol/registry/registry.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream_driver.h"
#include "driver.h"

namespace own_driver {
namespace {

using distbench::config::DriverOptions;
using distbench::protocol::DriverEnvironment;
using distbench::protocol::ProtocolDriver;

absl::StatusOr<std::unique_ptr<ProtocolDriver>> Make(
    const DriverOptions& options, const DriverEnvironment& environment) {
  return distbench::protocol::MakeStreamDriver<PrefixedDriver>(
      distbench::protocol::ReadTcpSettings(options), /*protocol=*/"", options,
      environment);
}

// With the settings that all drivers over TCP connections have.
const distbench::protocol::DriverPlugin kDriver(
    distbench::config::DriverOverConnections(
        "prefixed", "Messages with a prefix over TCP connections.",
        /*client=*/{}, /*server=*/{}),
    {Make});

}  // namespace
}  // namespace own_driver
