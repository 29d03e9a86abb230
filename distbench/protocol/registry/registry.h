// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// All drivers by name: those of the rooms of `protocol`, and those that
// products add, in their plugin.cc:
//
//   const protocol::DriverPlugin kThrift(
//       {.name = "thrift", .complete = &config::CompleteBy<catalog::Thrift>},
//       {[](const config::DriverOptions& options,
//           const protocol::DriverEnvironment& environment) { ... }});

#ifndef DISTBENCH_PROTOCOL_REGISTRY_REGISTRY_H_
#define DISTBENCH_PROTOCOL_REGISTRY_REGISTRY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/base/plugins.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_environment.h"
#include "distbench/security/test_guards.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protocol {

// How MakeProtocolDriver() makes one driver.
struct DriverMaker {
  absl::StatusOr<std::unique_ptr<ProtocolDriver>> (*make)(
      const config::DriverOptions& options,
      const DriverEnvironment& environment);
};

// Adds a driver to DriverCatalog() and MakeProtocolDriver() when it is
// initialised. A driver that is left out of a build, because it lacks a
// library, adds only its declaration.
class DriverPlugin {
 public:
  DriverPlugin(const config::DriverDeclaration& declaration,
               const DriverMaker& maker)
      : declaration_(declaration.name,
                     new config::DriverDeclaration(declaration)),
        maker_(declaration.name, new DriverMaker(maker)) {}

 private:
  const base::Plugin<config::DriverDeclaration> declaration_;
  const base::Plugin<DriverMaker> maker_;
};

// How long an idle worker polls before it sleeps, if it has a CPU to itself and
// the options do not say. This is the cost of a wake-up on a virtual machine,
// so polling costs at most twice as much as sleeping.
inline constexpr int kSpareCpuSpinUs = 50;

// Returns the options with a number for `spin_us` where it is kSpinByCpus: the
// setting of the other side if that has one, else kSpareCpuSpinUs on a host
// with spare CPUs, and 0 (no setting) on others.
config::DriverOptions WithSpinning(config::DriverOptions options,
                                   bool has_spare_cpu);

// Makes the driver named by options.driver. The error lists the available
// drivers.
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeProtocolDriver(
    const config::DriverOptions& options, const DriverEnvironment& environment);

// What products let an instance do beside calling other instances of its test.

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

#endif  // DISTBENCH_PROTOCOL_REGISTRY_REGISTRY_H_
