// What a traffic config asks of the sockets of a driver over TCP connections:
// asking the kernel for it, and reading back what the kernel has made of it.

#ifndef DISTBENCH_PROTOCOL_TCP_NETWORK_SETTINGS_H_
#define DISTBENCH_PROTOCOL_TCP_NETWORK_SETTINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/base/files.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// One side's settings. By default, nothing is asked for but no_delay.
struct NetworkSettings {
  std::string congestion_control = {};  // empty: the host's
  int64_t dscp = config::kDscp.default_value;

  // Whether connections without ECN are refused. For clients.
  bool requires_ecn = false;

  // As a program asks for them; the kernel takes twice as much.
  int64_t send_buffer_bytes = config::kSendBufferBytes.default_value;
  int64_t receive_buffer_bytes = config::kReceiveBufferBytes.default_value;

  // Whether Nagle's algorithm is off, with which the last packet of a batch may
  // wait for an acknowledgement.
  bool no_delay = true;

  // Whether large payloads are sent without copying them (SendQueue).
  bool zero_copy = false;

  int64_t busy_poll_us = config::kBusyPollUs.default_value;
  bool mptcp = false;
  int64_t max_pacing_bytes_per_second = config::kMaxPacingRate.default_value;
};

// Missing settings take their defaults (config/plan/driver_options.h).
NetworkSettings ReadNetworkSettings(
    const std::map<std::string, config::DriverOptions::Value>& settings);

// Returns the protocol for socket(2).
int ProtocolOf(const NetworkSettings& settings);

// Opens a stream socket of the address family. If that fails, the result is not
// open and errno says why.
base::FileDescriptor OpenSocket(int family, const NetworkSettings& settings);

// Asks for the settings on a socket that does not listen or connect yet, or was
// accepted just now, and reads them back. The error names the setting that the
// socket does not have, the reason and the remedy.
absl::Status ApplyNetworkSettings(const NetworkSettings& settings, int fd);

// As ApplyNetworkSettings(), on a new socket of the family.
absl::Status TryNetworkSettings(const NetworkSettings& settings, int family);

// Returns what a connected socket has of the settings, as far as they ask for
// anything, always in the same order.
std::vector<NetworkReading> ReadBack(const NetworkSettings& settings, int fd);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_NETWORK_SETTINGS_H_
