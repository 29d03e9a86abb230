#ifndef DISTBENCH_PROTOCOL_GRPC_WIRE_STREAM_COUNTS_H_
#define DISTBENCH_PROTOCOL_GRPC_WIRE_STREAM_COUNTS_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// What the streams of one driver have counted, on both sides. Thread-safe.
struct StreamCounts {
  // Streams that were opened by this side, and those of them that ended with
  // calls in flight, or because of a wrong reply.
  std::atomic<int64_t> opened = 0;
  std::atomic<int64_t> failed = 0;

  // Messages that could not be handed to gRPC at once, because the stream was
  // not open or gRPC had not taken the one before, and for how long any waited.
  std::atomic<int64_t> messages_waited = 0;
  std::atomic<int64_t> blocked_ns = 0;

  // Replies to calls that had already ended, by a deadline or by cancellation.
  std::atomic<int64_t> late_replies = 0;

  // All counts that are not zero, by name.
  std::vector<DriverCounter> List() const;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_WIRE_STREAM_COUNTS_H_
