// What products let an instance do beside calling other instances of its test.

#ifndef DISTBENCH_PROTOCOL_REGISTRY_DRIVER_EXTENSION_H_
#define DISTBENCH_PROTOCOL_REGISTRY_DRIVER_EXTENSION_H_

#include <memory>
#include <string>

#include "distbench/protocol/driver.h"
#include "distbench/security/test_guards.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protocol {

// The instance that a driver belongs to.
struct DriverOwner {
  const DistributedSystemDescription& test;  // checked and canonical
  std::string service;
  std::string instance;  // its name, such as "client/0"
  int number = 0;        // among all instances of the test
  security::InstanceLimits limits = {};
};

// Registered as a base::Plugin<DriverExtension>, by the name of its product.
class DriverExtension {
 public:
  virtual ~DriverExtension() = default;

  // Returns a driver that does what `driver` does, and what the product adds
  // for its owner; `driver` itself if that is nothing. Calls of a peer whose
  // addresses begin with kOutsidePrefix are an extension's.
  virtual std::unique_ptr<ProtocolDriver> Extend(
      std::unique_ptr<ProtocolDriver> driver,
      const DriverOwner& owner) const = 0;
};

// Extends the driver by what all products add.
std::unique_ptr<ProtocolDriver> ExtendDriver(
    std::unique_ptr<ProtocolDriver> driver, const DriverOwner& owner);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_REGISTRY_DRIVER_EXTENSION_H_
