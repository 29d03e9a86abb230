// The protocol driver of engines on simulated hosts. It stands for any of the
// real drivers: StackCosts say which.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_DRIVER_H_
#define DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_DRIVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "distbench/products/simulation/hosts/simulated_worker.h"

namespace distbench::simulation {

class SimulatedDriver;

// The drivers of a simulation, by address, so that they find each other.
// Addresses are not reused. One thread at a time.
class SimulatedDirectory {
 public:
  std::string Add(SimulatedDriver& driver);
  SimulatedDriver* Find(const std::string& address) const;  // null: none
  int NextTransportId() { return next_transport_id_++; }

 private:
  absl::flat_hash_map<std::string, SimulatedDriver*> drivers_;
  int next_transport_id_ = 0;
};

class SimulatedDriver final : public protocol::ProtocolDriver {
 public:
  struct Options {
    SimulatedHostParts host;
    SimulatedDirectory* directory;
    const RpcCosts* costs;
    double* used_ns;  // the CPU time of the engine, which workers add to
    uint64_t seed = 0;
    bool measures_time_parts = false;
  };
  // What the options point to must outlive the driver.
  explicit SimulatedDriver(const Options& options) : options_(options) {}

  // The engine that uses the driver, after Engine::Create().
  void Attach(engine::Engine& engine);

  absl::StatusOr<std::string> Listen(int worker_count) override;
  protocol::Transport& transport(int worker) override {
    return *transports_[worker];
  }
  absl::Status Connect(const std::vector<protocol::Peer>& peers,
                       absl::Time deadline) override;
  void Shutdown() override {}

 private:
  const Options options_;
  int id_of_first_ = 0;
  std::vector<std::unique_ptr<SimulatedWorker>> transports_;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_HOSTS_SIMULATED_DRIVER_H_
