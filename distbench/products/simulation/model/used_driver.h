// The driver that carries a service's RPCs, as far as it matters for what they
// cost.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_MODEL_USED_DRIVER_H_
#define DISTBENCH_PRODUCTS_SIMULATION_MODEL_USED_DRIVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/traffic_config.pb.h"

namespace distbench::simulation {

struct UsedDriver {
  // Not a decorator, and not what an alias ("grpc_async_callback") stands for:
  // its defaults differ, and so do its costs. Empty if this program does not
  // know it, which happens with results of others.
  std::string name;

  // How long idle workers poll; kSpinByCpus (config/plan/driver_options.h) if
  // the host's CPUs decide.
  int64_t spin_us = 0;

  // Names of the other settings that are not as they are by default.
  std::vector<std::string> settings;
};

UsedDriver UsedDriverOf(const DistributedSystemDescription& test,
                        const ServiceSpec& service);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_MODEL_USED_DRIVER_H_
