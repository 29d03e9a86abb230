#ifndef DISTBENCH_PRODUCTS_SIMULATION_KERNEL_SIMULATED_EVENT_H_
#define DISTBENCH_PRODUCTS_SIMULATION_KERNEL_SIMULATED_EVENT_H_

#include <cstdint>

namespace distbench::simulation {

// What an event carries: whatever its handler has agreed on with itself.
struct SimulatedEvent {
  int kind = 0;
  int node = 0;  // whose event it is; the simulator fills it in
  int64_t value = 0;
  void* content = nullptr;
};

class SimulatedEventHandler {
 public:
  virtual ~SimulatedEventHandler() = default;
  // Runs on the thread of the node that the event was scheduled for.
  virtual void OnEvent(const SimulatedEvent& event) = 0;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_KERNEL_SIMULATED_EVENT_H_
