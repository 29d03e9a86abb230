#include "distbench/products/simulation/network/tcp_settings.h"

#include <algorithm>

namespace distbench::simulation {

TcpSettings MakeTcpSettings(const SimulatedTransport& transport) {
  constexpr int64_t kLinuxDelayedAckNs = 40'000'000;
  TcpSettings settings;
  settings.dctcp = transport.kind() == SimulatedTransport::DCTCP;
  settings.segment_bytes = transport.segment_bytes();
  settings.header_bytes = transport.header_bytes();
  settings.max_window_bytes = transport.max_window_bytes();
  settings.initial_window_bytes =
      std::min(transport.initial_window_segments() * settings.segment_bytes,
               settings.max_window_bytes);
  settings.min_timeout_ns = transport.min_retransmission_timeout_ns();
  settings.delayed_ack_ns =
      std::min(kLinuxDelayedAckNs, settings.min_timeout_ns / 2);
  return settings;
}

}  // namespace distbench::simulation
