// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The settings of the drivers grpc and grpc_stream in a traffic config.

#ifndef DISTBENCH_PROTOCOL_GRPC_SETTINGS_H_
#define DISTBENCH_PROTOCOL_GRPC_SETTINGS_H_

#include <cstdint>
#include <optional>

#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/grpc/client/client_side.h"
#include "distbench/protocol/grpc/server/handler_pool.h"
#include "distbench/protocol/grpc/wire/channel.h"

namespace distbench::protocol {

// How the ends of calls reach a worker: through its completion queue or through
// gRPC's threads for callbacks.
enum class ClientType { kPolling, kCallback };

// How requests reach a worker: through its completion queue alone, through that
// and a handler pool, or through gRPC's threads for callbacks and a handler
// pool.
enum class ServerType { kInline, kPolling, kHandoff };

struct GrpcSettings {
  ChannelArguments client;
  ChannelArguments server;

  // Set for the driver grpc_stream, which has none of the settings up to
  // `channels`.
  std::optional<StreamSettings> streams;

  ClientType client_type = ClientType::kPolling;
  ServerType server_type = ServerType::kInline;

  // For server types with a pool; pool_size is at least 1.
  HandlerPool::Kind pool_kind = HandlerPool::Kind::kElastic;
  int pool_size = 1;
  // Whether requests that are answered at once go through the pool as well.
  bool pool_for_all = false;

  // Connections of a worker to each peer, used in turn; at least 1.
  int channels = 1;

  // Calls after which a channel is replaced by another one; 0: never.
  int64_t calls_per_connection = 0;

  // Whether the server listens on a Unix socket (addresses.h).
  bool uses_unix_socket = false;

  // How long a worker polls before it blocks.
  int64_t spin_ns = 0;

  // Whether gRPC's threads for callbacks take part.
  bool uses_callbacks() const {
    return client_type == ClientType::kCallback ||
           server_type == ServerType::kHandoff;
  }
};

// Settings named "grpc.*" become channel arguments, in addition to those that
// the driver needs. A pool of size 0 gets as many threads as the process has
// CPUs. Missing settings take their defaults.
GrpcSettings ReadGrpcSettings(const config::DriverOptions& options);

// Same, for the driver grpc_stream.
GrpcSettings ReadGrpcStreamSettings(const config::DriverOptions& options);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SETTINGS_H_
