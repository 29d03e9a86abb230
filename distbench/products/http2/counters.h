#ifndef DISTBENCH_PRODUCTS_HTTP2_COUNTERS_H_
#define DISTBENCH_PRODUCTS_HTTP2_COUNTERS_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench::http2 {

// What one http2 driver counts. Thread-safe.
struct Http2Counters : protocol::StreamCounters {
  // How often all messages of a connection had to wait for the peer: for room
  // in its windows, and for its limit of concurrent streams.
  std::atomic<int64_t> window_waits = 0;
  std::atomic<int64_t> stream_limit_waits = 0;

  // Streams that the peer has reset.
  std::atomic<int64_t> reset_streams = 0;

  // Requests that were no data RPCs, or malformed.
  std::atomic<int64_t> refused_requests = 0;

  // All counters that are not zero, by name.
  std::vector<protocol::DriverCounter> List() const;
};

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_COUNTERS_H_
