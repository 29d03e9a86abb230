// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The reasons why connections of drivers over TCP end, and how often they
// occur.

#ifndef DISTBENCH_PROTOCOL_TCP_STREAM_ERROR_H_
#define DISTBENCH_PROTOCOL_TCP_STREAM_ERROR_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/protocol/driver.h"

namespace distbench::protocol {

enum class StreamError {
  kNone,
  // The handshake.
  kNoHello,
  kOtherVersion,
  kHelloTimeout,
  kOtherTest,
  kTlsFailed,
  // Frames.
  kWrongFrameKind,
  kOversizedMessage,
  kOversizedHead,
  kHeadBeyondMessage,
  kMalformedMessage,
  kUnknownCall,
  // HTTP/2.
  kProtocolViolated,
  // Thrift.
  kNotThrift,
  kHandshakeRefused,
  // The connection itself.
  kClosedByPeer,
  kSocketFailed,
  kNotWatched,
  kStranger,
  kOnPurpose,
};

inline constexpr size_t kStreamErrorCount =
    static_cast<size_t>(StreamError::kOnPurpose) + 1;

// Returns text for people, such as "closed by the peer".
absl::string_view Describe(StreamError error);

// Same, with details, unless they are empty.
std::string Describe(StreamError error, absl::string_view details);

// Returns a name for programs, such as "closed_by_peer".
absl::string_view NameOf(StreamError error);

// Counts of the connections of one driver, above all of failures. Thread-safe.
class StreamCounters {
 public:
  // Counts a connection that has ended for this reason, unless it was lost
  // while it was not in use: peers may leave at the end of a test.
  void CountEnd(StreamError error, bool was_in_use);
  int64_t errors(StreamError error) const { return errors_[Index(error)]; }

  // Attempts to reconnect; and those that failed, with first attempts, which
  // connections of limited calls make.
  std::atomic<int64_t> reconnects = 0;
  std::atomic<int64_t> failed_reconnects = 0;

  // Connections whose place another one has taken: after the calls that each
  // may have, or because the server said that it ends them.
  std::atomic<int64_t> renewed_connections = 0;

  // Replies to calls that had already ended, by a deadline or by cancellation.
  std::atomic<int64_t> late_replies = 0;

  // Connections that could not be accepted.
  std::atomic<int64_t> failed_accepts = 0;

  // Sends without copy that the kernel has reported, and of how many it copied
  // the bytes nevertheless.
  std::atomic<int64_t> zero_copy_sends = 0;
  std::atomic<int64_t> zero_copy_copied = 0;

  // Calls with time stamps of the wire, those that were to have them and do
  // not, and how often connections noticed that the clock of the stamps was
  // set.
  std::atomic<int64_t> wire_stamps = 0;
  std::atomic<int64_t> wire_stamps_missing = 0;
  std::atomic<int64_t> wire_clock_steps = 0;

  // All counters that are not zero, by name.
  std::vector<DriverCounter> List() const;

 private:
  static size_t Index(StreamError error) { return static_cast<size_t>(error); }

  std::array<std::atomic<int64_t>, kStreamErrorCount> errors_ = {};
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_STREAM_ERROR_H_
