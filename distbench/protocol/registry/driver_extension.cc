#include "distbench/protocol/registry/driver_extension.h"

#include <utility>

#include "distbench/base/plugins.h"

namespace distbench::protocol {

std::unique_ptr<ProtocolDriver> ExtendDriver(
    std::unique_ptr<ProtocolDriver> driver, const DriverOwner& owner) {
  for (const auto& [name, extension] : base::Plugins<DriverExtension>::All()) {
    driver = extension->Extend(std::move(driver), owner);
  }
  return driver;
}

}  // namespace distbench::protocol
