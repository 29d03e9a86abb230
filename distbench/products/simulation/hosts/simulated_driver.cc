#include "distbench/products/simulation/hosts/simulated_driver.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/plan/driver_options.h"

namespace distbench::simulation {

std::string SimulatedDirectory::Add(SimulatedDriver& driver) {
  std::string address = absl::StrCat("simulated:", drivers_.size());
  drivers_[address] = &driver;
  return address;
}

SimulatedDriver* SimulatedDirectory::Find(const std::string& address) const {
  const auto found = drivers_.find(address);
  return found == drivers_.end() ? nullptr : found->second;
}

void SimulatedDriver::Attach(engine::Engine& engine) {
  for (size_t i = 0; i < transports_.size(); ++i) {
    transports_[i]->Attach(engine, static_cast<int>(i));
  }
}

absl::StatusOr<std::string> SimulatedDriver::Listen(int worker_count) {
  for (int i = 0; i < worker_count; ++i) {
    const int id = options_.directory->NextTransportId();
    if (i == 0) id_of_first_ = id;
    transports_.push_back(
        std::make_unique<SimulatedWorker>(SimulatedWorker::Options{
            .host = options_.host,
            .costs = options_.costs,
            .used_ns = options_.used_ns,
            .id = id,
            .seed = options_.seed,
            .measures_time_parts = options_.measures_time_parts}));
  }
  return options_.directory->Add(*this);
}

// Clients spread over the workers of a server.
absl::Status SimulatedDriver::Connect(const std::vector<protocol::Peer>& peers,
                                      absl::Time /*deadline*/) {
  for (const protocol::Peer& peer : peers) {
    std::vector<SimulatedDriver*> servers;
    for (const std::string& address : peer.addresses) {
      servers.push_back(options_.directory->Find(address));
      if (servers.back() == nullptr) {
        return absl::UnavailableError(
            absl::StrCat("nothing listens at ", address));
      }
    }
    for (size_t i = 0; i < transports_.size(); ++i) {
      std::vector<SimulatedWorker*> chosen;
      for (SimulatedDriver* server : servers) {
        const size_t worker = (id_of_first_ + i) % server->transports_.size();
        chosen.push_back(server->transports_[worker].get());
      }
      transports_[i]->AddPeer(chosen, peer.policy == config::kRoundRobinPolicy);
    }
  }
  return absl::OkStatus();
}

}  // namespace distbench::simulation
