// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The tcp driver's settings in a traffic config.

#ifndef DISTBENCH_PROTOCOL_TCP_SETTINGS_H_
#define DISTBENCH_PROTOCOL_TCP_SETTINGS_H_

#include <cstdint>
#include <map>
#include <string>

#include "distbench/config/plan/driver_options.h"

namespace distbench::protocol {

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

// Returns whether a server with these settings listens on a Unix socket.
bool UsesUnixSocket(
    const std::map<std::string, config::DriverOptions::Value>& server_settings);

// Missing settings take their defaults (config/plan/driver_options.h).
TcpSettings ReadTcpSettings(const config::DriverOptions& options);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_SETTINGS_H_
