// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What RPCs and activities cost, as a fabric (proto/simulation.proto) says it,
// and whose costs a service's RPCs have.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_MODEL_GIVEN_COSTS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_MODEL_GIVEN_COSTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::simulation {

// The driver that carries a service's RPCs, as far as it matters for what they
// cost.
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

// The costs of a driver's RPCs: those of the fabric if it has them, otherwise
// those of the reference machine (reference_costs.textproto). A decorator has
// none of its own: ask for the driver that it decorates. NOT_FOUND names the
// drivers that have costs.
absl::StatusOr<StackCosts> CostsOfDriver(const SimulatedFabric& fabric,
                                         absl::string_view driver);

// The costs of an activity that computes: those for the test's activity config
// of this name, otherwise those for all of this activity. NOT_FOUND names both
// and the remedy.
absl::StatusOr<ActivityCosts> CostsOfActivity(const SimulatedFabric& fabric,
                                              absl::string_view activity,
                                              absl::string_view name);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_MODEL_GIVEN_COSTS_H_
