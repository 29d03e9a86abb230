// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The tcp driver's settings in a traffic config.

#ifndef DISTBENCH_PROTOCOL_TCP_SETTINGS_H_
#define DISTBENCH_PROTOCOL_TCP_SETTINGS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "distbench/config/plan/driver_options.h"

namespace distbench::protocol {

// What a worker of a server grants clients that have not shown that they know
// the test; not settings of the traffic config.
struct StrangerLimits {
  // Connections of them that it keeps, at least one. For another one it gives
  // up the one that was heard longest ago. Each connection of a test's clients
  // is among them until its greeting or handshake is over: so many may be made
  // at one time.
  size_t connections = 16'384;

  // How long one may be silent after its last request. Long, because the honest
  // among them, such as clients of gRPC, would notice.
  int64_t silence_ns = 3'600'000'000'000;
};

struct TcpSettings {
  // Number of connections from each worker to each server.
  int64_t connections;

  // Calls after which a connection is replaced by another one; 0: never.
  int64_t calls_per_connection = 0;

  // The most requests (or replies) that are collected before they are written
  // to a connection. kTcpMaxBatchBytes limits them as well.
  int64_t client_max_batch;
  int64_t server_max_batch;

  // Bytes that may wait to be written to a connection before it accepts no more
  // requests, in either direction; counted as on the wire.
  int64_t send_queue_bytes;

  // Whether the server listens on a Unix socket (addresses.h).
  bool uses_unix_socket;

  // How long a worker polls before it blocks.
  int64_t spin_ns;

  // Time limit for a peer to accept a connection and to say hello.
  int64_t handshake_timeout_ns = 5'000'000'000;

  StrangerLimits strangers = {};

  // See DriverEnvironment; not a setting of the traffic config.
  bool measures_time_parts = false;
};

// Returns the setting if it is there, else its default.
int64_t ReadSetting(
    const std::map<std::string, config::DriverOptions::Value>& settings,
    const config::TcpSettingLimits& setting);
std::string ReadTextSetting(
    const std::map<std::string, config::DriverOptions::Value>& settings,
    const std::string& name, const std::string& default_value);

// How long a worker polls before it blocks: one serves both sides, so the
// larger value of both counts.
int64_t ReadSpinNs(const config::DriverOptions& options);

// Returns whether a server with these settings listens on a Unix socket.
bool UsesUnixSocket(
    const std::map<std::string, config::DriverOptions::Value>& server_settings);

// Missing settings take their defaults (config/plan/driver_options.h).
TcpSettings ReadTcpSettings(const config::DriverOptions& options);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_SETTINGS_H_
