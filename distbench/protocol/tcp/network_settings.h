// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a traffic config asks of the sockets of a driver over TCP connections:
// asking the kernel for it, and reading back what the kernel has made of it.

#ifndef DISTBENCH_PROTOCOL_TCP_NETWORK_SETTINGS_H_
#define DISTBENCH_PROTOCOL_TCP_NETWORK_SETTINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
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

// The network settings of a driver's connections, and what was read back from
// their sockets. Thread-safe.
class DriverNetwork {
 public:
  // Of clients are the connections that the driver makes, of servers those that
  // it accepts.
  enum class Side { kClient, kServer };

  DriverNetwork() = default;
  DriverNetwork(NetworkSettings client, NetworkSettings server)
      : client_(std::move(client)), server_(std::move(server)) {}

  const NetworkSettings& settings(Side side) const {
    return side == Side::kClient ? client_ : server_;
  }

  // Makes sure that this host's sockets of the address family can have the
  // settings. Data that is encrypted is copied, so zero_copy excludes TLS. The
  // error names side, setting, reason and remedy.
  absl::Status Check(int family, bool uses_tls) const;

  // Reads back and counts the settings of a new connection. The error says what
  // it lacks, so that it must not be used.
  absl::Status Admit(Side side, int fd);

  // What all connections had.
  std::vector<ConnectionReadings> Readings() const;

 private:
  void Count(Side side, const std::vector<NetworkReading>& settings);

  const NetworkSettings client_;
  const NetworkSettings server_;

  mutable absl::Mutex mutex_;
  // One entry for each side and combination of readings, of which there are
  // few.
  std::vector<ConnectionReadings> readings_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_NETWORK_SETTINGS_H_
