// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Connections of a gRPC driver to its peers, and the arguments with which gRPC
// makes channels and servers.

#ifndef DISTBENCH_PROTOCOL_GRPC_WIRE_CHANNEL_H_
#define DISTBENCH_PROTOCOL_GRPC_WIRE_CHANNEL_H_

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/time.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/config/plan/driver_options.h"

namespace distbench::protocol {

// Keeps gRPC initialised during its lifetime.
class GrpcLibrary {
 public:
  GrpcLibrary() { grpc_init(); }
  ~GrpcLibrary() { grpc_shutdown(); }
  GrpcLibrary(const GrpcLibrary&) = delete;
  GrpcLibrary& operator=(const GrpcLibrary&) = delete;
};

// Targets are gRPC's names for what a channel connects to.

// Returns the target of one server; a numeric `host` needs no look-up.
std::string TargetOf(const std::string& host, int port);

// Returns "HOST:PORT" of a target with one server.
std::string HostPortOf(absl::string_view target);

// Returns the target of a channel over several servers, given at least one
// target from TargetOf() or NewUnixAddress(). Looks up names. gRPC requires
// addresses of one family: if they are mixed, IPv4 addresses become IPv4-mapped
// IPv6 ones; Unix sockets cannot be mixed with others.
absl::StatusOr<std::string> JoinTargets(
    const std::vector<std::string>& targets);

// gRPC channel arguments by name.
class ChannelArguments {
 public:
  void Set(const std::string& name, config::DriverOptions::Value value);

  // The result points into this object.
  std::vector<grpc_arg> AsGrpc() const;

 private:
  std::map<std::string, config::DriverOptions::Value> values_;
};

// The longest time until an aborted set-up is noticed. Waits are split into
// pieces of this length.
inline constexpr absl::Duration kAbortLatency = absl::Milliseconds(100);

// Converts to gRPC's monotonic clock, which its waits use. The result is at
// most a year from now, so that it fits nanoseconds, and not in the past.
gpr_timespec MonotonicDeadline(absl::Time deadline);
gpr_timespec MonotonicDeadline(absl::Duration from_now);

// Converts a time of base::NowNs(). Newer versions of gRPC have a monotonic
// clock that is ahead of the system's, by 5 s in 1.56. The result is never
// earlier than the time asked for.
gpr_timespec ToGrpcClock(int64_t monotonic_ns);

// A gRPC completion queue for operations that a thread starts and waits for
// itself before there is traffic: connecting and handshakes. Workers use an
// EventQueue instead. Not thread-safe.
class SetupQueue {
 public:
  SetupQueue() : queue_(grpc_completion_queue_create_for_next(nullptr)) {}

  // Waits for all operations that were started and are not complete.
  ~SetupQueue();

  SetupQueue(const SetupQueue&) = delete;
  SetupQueue& operator=(const SetupQueue&) = delete;

  // For starting operations, with tags that are not null.
  grpc_completion_queue* get() const { return queue_; }

  // Waits for the next completion and returns its tag, or null if there is none
  // by the deadline.
  void* Next(gpr_timespec deadline = gpr_inf_future(GPR_CLOCK_MONOTONIC));

 private:
  grpc_completion_queue* const queue_;
};

// The methods of all data RPCs.
inline constexpr char kGenericRpcMethod[] = "/distbench.Traffic/GenericRpc";
inline constexpr char kGenericStreamMethod[] =
    "/distbench.Traffic/GenericStream";
inline constexpr char kStreamingRpcMethod[] = "/distbench.Traffic/StreamingRpc";

// The trailing metadata of kStreamingRpcMethod.
inline constexpr char kBlockedKey[] = "blocked-ns";

// A separate connection to one peer, which shares nothing within the process.
class Channel {
 public:
  // Does not connect yet. `target` is what a peer's Listen() returned.
  Channel(const std::string& target, const grpc_channel_args& args,
          grpc_channel_credentials* credentials);

  const std::string& target() const { return target_; }
  grpc_channel* get() const { return channel_.get(); }

  // Releases the channel to the callback API, which then owns it.
  grpc_channel* Release() && { return channel_.release(); }

  // Makes a call of kGenericRpcMethod whose completions go to `queue`.
  grpc_call* MakeCall(grpc_completion_queue* queue, gpr_timespec deadline) {
    return grpc_channel_create_registered_call(channel_.get(), nullptr,
                                               GRPC_PROPAGATE_DEFAULTS, queue,
                                               method_, deadline, nullptr);
  }

 private:
  struct Destroy {
    void operator()(grpc_channel* channel) const {
      grpc_channel_destroy(channel);
    }
  };

  std::string target_;
  std::unique_ptr<grpc_channel, Destroy> channel_;
  void* method_;
};

// Connects all channels concurrently. The error names the peers that could not
// be reached. A peer that refuses is asked again, until `refusal_patience` has
// passed since it did so first. Returns CANCELLED soon after `aborted` is set.
absl::Status WaitForConnections(
    absl::Span<const Channel* const> channels, absl::Time deadline,
    const std::atomic<bool>& aborted,
    absl::Duration refusal_patience = absl::InfiniteDuration());

// Traffic.Handshake (data_plane.proto): before a client sends traffic, it
// verifies that the server takes part in the same test.

// Verifies all channels concurrently, on the client. Each must be connected, to
// a single server. The error names the servers that do not know the nonce.
// Returns CANCELLED soon after `aborted` is set.
absl::Status VerifyPeers(absl::Span<const Channel* const> channels,
                         absl::string_view nonce, absl::Time deadline,
                         const std::atomic<bool>& aborted);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_WIRE_CHANNEL_H_
