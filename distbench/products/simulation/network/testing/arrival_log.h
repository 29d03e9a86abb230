// What arrives in a network, with times.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TESTING_ARRIVAL_LOG_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TESTING_ARRIVAL_LOG_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "distbench/products/simulation/kernel/simulator.h"

namespace distbench::simulation {

inline constexpr int64_t kEndOfTime = std::numeric_limits<int64_t>::max();

// Notes the events of one host.
struct ArrivalLog : SimulatedEventHandler {
  struct Entry {
    int64_t time_ns;
    int64_t value;
    bool operator==(const Entry&) const = default;
  };

  ArrivalLog(const Simulator& simulator, int host)
      : simulator(simulator), host(host) {}
  void OnEvent(const SimulatedEvent& event) override {
    entries.push_back({simulator.now_ns(host), event.value});
  }

  const Simulator& simulator;
  const int host;
  std::vector<Entry> entries;
};

inline void RunToTheEnd(Simulator& simulator) {
  simulator.Run(kEndOfTime, [] { return false; });
}

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TESTING_ARRIVAL_LOG_H_
