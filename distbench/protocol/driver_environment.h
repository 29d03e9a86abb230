#ifndef DISTBENCH_PROTOCOL_DRIVER_ENVIRONMENT_H_
#define DISTBENCH_PROTOCOL_DRIVER_ENVIRONMENT_H_

#include <string>
#include <vector>

namespace distbench {

// What a node knows when it makes a driver.
struct DriverEnvironment {
  // Address that peers use for this host; empty: found from the options'
  // netdev and ip_version, else the host's best address.
  std::string service_address = {};

  // By RPC index: whether requests of that RPC are answered at once, without
  // running anything. Drivers that give each request a thread need none for
  // them. Those beyond the end are not.
  std::vector<bool> immediate_rpcs = {};
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_DRIVER_ENVIRONMENT_H_
