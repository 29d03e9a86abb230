#ifndef DISTBENCH_PROTOCOL_DRIVER_ENVIRONMENT_H_
#define DISTBENCH_PROTOCOL_DRIVER_ENVIRONMENT_H_

#include <memory>
#include <string>
#include <vector>

#include "distbench/security/credentials.h"

namespace distbench {

// What a node knows when it makes a driver.
struct DriverEnvironment {
  // Address that peers use for this host; empty: found from the options'
  // netdev and ip_version, else the host's best address.
  std::string service_address = {};

  // The only address to listen on; empty: as service_address says.
  std::string listen_address = {};

  // Of the test: no traffic goes to an address whose driver does not know it.
  // Empty in tests without a sequencer.
  std::string test_nonce = {};

  // How connections are secured; null: not at all.
  std::shared_ptr<const TlsCredentials> tls = {};

  // Whether the host has a CPU for each worker of the instance, and others left:
  // a worker that polls while it is idle keeps nobody from running.
  bool has_spare_cpu = false;

  // By RPC index: whether requests of that RPC are answered at once, without
  // running anything. Drivers that give each request a thread need none for
  // them. Those beyond the end are not.
  std::vector<bool> immediate_rpcs = {};
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_DRIVER_ENVIRONMENT_H_
