#ifndef DISTBENCH_PRODUCTS_SIMULATION_HOSTS_ALARMS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_HOSTS_ALARMS_H_

#include <cstdint>
#include <vector>

namespace distbench::simulation {

// The times of events that let something look whether it has anything to do.
// Events cannot be taken back, so that an earlier one than needed stays, finds
// nothing, and asks for the next. Those that were scheduled for later stay
// known: otherwise, each short wait would leave another event for the end of a
// long one.
class Alarms {
 public:
  // Returns whether an event has to be scheduled for this time, because none
  // comes by then.
  bool Add(int64_t due_ns) {
    if (!times_ns_.empty() && times_ns_.back() <= due_ns) return false;
    times_ns_.push_back(due_ns);
    return true;
  }

  // To be called in each event.
  void OnEvent() { times_ns_.pop_back(); }

 private:
  std::vector<int64_t> times_ns_;  // each earlier than the one before it
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_HOSTS_ALARMS_H_
