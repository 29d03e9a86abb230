// The tcp driver's settings in a traffic config.

#ifndef DISTBENCH_PROTOCOL_TCP_SETTINGS_H_
#define DISTBENCH_PROTOCOL_TCP_SETTINGS_H_

#include <cstdint>

#include "distbench/config/plan/driver_options.h"

namespace distbench {

struct TcpSettings {
  // Number of connections from each worker to each server.
  int64_t connections;

  // The most requests (or replies) that are collected before they are written
  // to a connection. kTcpMaxBatchBytes limits them as well.
  int64_t client_max_batch;
  int64_t server_max_batch;

  // Bytes that may wait to be written to a connection before it accepts no more
  // requests, in either direction; counted as on the wire.
  int64_t send_queue_bytes;

  // Whether the server listens on a Unix socket (unix_address.h).
  bool uses_unix_socket;

  // How long a worker polls before it blocks.
  int64_t spin_ns;

  // Time limit for a peer to accept a connection and to say hello.
  int64_t handshake_timeout_ns = 5'000'000'000;

  // See DriverEnvironment; not a setting of the traffic config.
  bool measures_time_parts = false;
};

// Missing settings take their defaults (config/driver_catalog.h).
TcpSettings ReadTcpSettings(const DriverOptions& options);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_SETTINGS_H_
