// What the senders and receivers of all connections have in common.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TCP_SETTINGS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TCP_SETTINGS_H_

#include <cstdint>

#include "proto/simulation.pb.h"

namespace distbench::simulation {

struct TcpSettings {
  bool dctcp = false;
  int64_t segment_bytes = 0;
  int64_t header_bytes = 0;
  int64_t initial_window_bytes = 0;
  int64_t max_window_bytes = 0;
  int64_t min_timeout_ns = 0;

  // How long an acknowledgement may wait for data that goes the same way: 40 ms
  // as in Linux, which also keeps it below the smallest timeout, so that
  // waiting does not look like a loss.
  int64_t delayed_ack_ns = 0;
};

TcpSettings MakeTcpSettings(const SimulatedTransport& transport);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TCP_SETTINGS_H_
