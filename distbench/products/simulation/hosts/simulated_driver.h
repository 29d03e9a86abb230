// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The protocol driver of engines on simulated hosts, with the threads of their
// workers.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_DRIVER_H_
#define DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_DRIVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "distbench/engine/engine.h"
#include "distbench/products/simulation/hosts/cpus.h"
#include "distbench/products/simulation/kernel/simulator.h"
#include "distbench/products/simulation/model/costs.h"
#include "distbench/products/simulation/network/network.h"
#include "distbench/protocol/driver.h"

namespace distbench::simulation {

class SimulatedDriver;
class SimulatedWorker;

// The drivers of a simulation, by address, so that they find each other.
struct SimulatedDirectory {
  absl::flat_hash_map<std::string, SimulatedDriver*> drivers;
  int worker_count = 0;  // of all
};

// What the workers of an instance have in common.
struct DriverParts {
  Simulator* simulator;
  SimulatedNetwork* network;
  SimulatedCpus* cpus;  // of the instance's host
  int node;             // the host
  SimulatedDirectory* directory;
  const RpcCosts* costs;
  double* used_ns;  // the CPU time of all workers is added to it
  uint64_t seed = 0;
  bool measures_time_parts = false;
};

// Stands for any of the real drivers: StackCosts say which.
class SimulatedDriver final : public protocol::ProtocolDriver {
 public:
  // What `parts` points to must outlive this.
  explicit SimulatedDriver(const DriverParts& parts);
  ~SimulatedDriver() override;

  // The engine that uses the driver, after Engine::Create().
  void Attach(engine::Engine& engine);

  absl::StatusOr<std::string> Listen(int worker_count) override;
  protocol::Transport& transport(int worker) override;
  absl::Status Connect(const std::vector<protocol::Peer>& peers,
                       absl::Time deadline) override;
  void Shutdown() override {}

 private:
  const DriverParts parts_;
  int id_of_first_ = 0;
  std::vector<std::unique_ptr<SimulatedWorker>> workers_;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_DRIVER_H_
