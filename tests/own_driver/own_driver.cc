// The driver "own_tcp", as somebody would add it from a folder of his own: here
// the driver tcp under another name (docs/drivers.md, "A driver of your own").

#include <memory>

#include "absl/status/statusor.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/protocol/registry/registry.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream_driver.h"
#include "distbench/protocol/tcp/tcp_driver.h"

namespace own_driver {
namespace {

using distbench::config::DriverOptions;
using distbench::protocol::DriverEnvironment;
using distbench::protocol::ProtocolDriver;

absl::StatusOr<std::unique_ptr<ProtocolDriver>> Make(
    const DriverOptions& options, const DriverEnvironment& environment) {
  return distbench::protocol::MakeStreamDriver<distbench::protocol::TcpDriver>(
      distbench::protocol::ReadTcpSettings(options), /*protocol=*/"", options,
      environment);
}

const distbench::protocol::DriverPlugin kDriver(
    distbench::config::DriverOverConnections(
        "own_tcp", "The driver tcp under another name.", {}, {}),
    {Make});

}  // namespace
}  // namespace own_driver
