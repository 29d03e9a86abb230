// What a traffic config can set of the tcp driver.

#ifndef DISTBENCH_PROTOCOL_TCP_SETTINGS_H_
#define DISTBENCH_PROTOCOL_TCP_SETTINGS_H_

#include <cstdint>

#include "distbench/config/plan/driver_options.h"

namespace distbench {

struct TcpSettings {
  // Connections from each worker to each server.
  int64_t connections;

  // Requests, and replies, that are gathered, at most, before they are written
  // to a connection; besides, kTcpMaxBatchBytes.
  int64_t client_max_batch;
  int64_t server_max_batch;

  // What may wait to be written to a connection before no more requests are
  // accepted for it, or from it: bytes on the wire.
  int64_t send_queue_bytes;

  // How long a worker polls before it blocks.
  int64_t spin_ns;

  // Within which a peer has to accept a connection, and to say hello.
  int64_t handshake_timeout_ns = 5'000'000'000;
};

// Settings that are missing have their defaults (config/driver_catalog.h).
TcpSettings ReadTcpSettings(const DriverOptions& options);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_SETTINGS_H_
