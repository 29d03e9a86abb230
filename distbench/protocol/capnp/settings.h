// The capnp driver's settings in a traffic config.

#ifndef DISTBENCH_PROTOCOL_CAPNP_SETTINGS_H_
#define DISTBENCH_PROTOCOL_CAPNP_SETTINGS_H_

#include <cstdint>

#include "distbench/config/plan/driver_options.h"

namespace distbench {

struct CapnpSettings {
  // Number of connections from each worker to each server.
  int64_t connections = 1;

  // Calls after which a connection is replaced by another one; 0: never.
  int64_t calls_per_connection = 0;

  // Bytes that may wait to be written to a connection before it accepts no more
  // requests, in either direction; counted as on the wire.
  int64_t send_queue_bytes = 0;

  // Whether the server listens on a Unix socket (unix_address.h).
  bool uses_unix_socket = false;

  // How long a worker polls before it blocks.
  int64_t spin_ns = 0;

  // Time limit for a peer to accept a connection and to say hello.
  int64_t handshake_timeout_ns = 5'000'000'000;

  // See DriverEnvironment; not a setting of the traffic config.
  bool measures_time_parts = false;
};

// Missing settings take their defaults (config/plan/driver_options.h).
CapnpSettings ReadCapnpSettings(const DriverOptions& options);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_CAPNP_SETTINGS_H_
