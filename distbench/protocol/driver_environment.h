#ifndef DISTBENCH_PROTOCOL_DRIVER_ENVIRONMENT_H_
#define DISTBENCH_PROTOCOL_DRIVER_ENVIRONMENT_H_

#include <string>

namespace distbench {

// What a node knows when it makes a driver.
struct DriverEnvironment {
  // Address that peers use for this host; empty: found from the options'
  // netdev and ip_version, else the host's best address.
  std::string service_address;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_DRIVER_ENVIRONMENT_H_
