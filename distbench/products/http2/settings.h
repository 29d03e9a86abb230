// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The http2 driver's settings in a traffic config.

#ifndef DISTBENCH_PRODUCTS_HTTP2_SETTINGS_H_
#define DISTBENCH_PRODUCTS_HTTP2_SETTINGS_H_

#include <cstdint>

#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/tcp/settings.h"

namespace distbench::http2 {

// What one side of a connection announces to the other.
struct Http2Limits {
  // How many bytes of messages the peer may send before it is told that they
  // have been read: in each stream, and in all streams of the connection.
  int64_t stream_window_bytes = 0;
  int64_t connection_window_bytes = 0;

  // How many requests a client may have in flight on the connection.
  int64_t max_concurrent_streams = 0;

  // How many bytes of unanswered requests, without their payloads, a server
  // keeps for the connection.
  int64_t kept_request_bytes = 0;
};

struct Http2Settings {
  // Number of connections from each worker to each server.
  int64_t connections = 1;

  // Calls after which a connection is replaced by another one; 0: never.
  int64_t calls_per_connection = 0;

  Http2Limits client;
  Http2Limits server;

  // Bytes of requests that may wait to be written to a connection before it
  // accepts no more. A server reads no more from a client while frames of about
  // this size, messages apart, wait for room in the socket.
  int64_t send_queue_bytes = 0;

  // Whether the server listens on a Unix socket (addresses.h).
  bool uses_unix_socket = false;

  // How long a worker polls before it blocks.
  int64_t spin_ns = 0;

  // Time limit for a server to accept a connection and to prove that it belongs
  // to the test, and for a client to begin its first request.
  int64_t handshake_timeout_ns = 5'000'000'000;

  // How long a server waits for the next byte of a request that has begun. It
  // gives up the request after twice this time at the latest. Longer than
  // clients stand still in tests of faults.
  int64_t request_timeout_ns = 60'000'000'000;

  protocol::StrangerLimits strangers = {};

  // See DriverEnvironment; not a setting of the traffic config.
  bool measures_time_parts = false;
};

// Missing settings take their defaults (declaration.h,
// config/plan/driver_options.h).
Http2Settings ReadHttp2Settings(const config::DriverOptions& options);

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_SETTINGS_H_
