// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The connections of one worker to one external service, and the rate at which
// they may be used.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_PEER_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_PEER_H_

#include <grpc/grpc.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/products/external/external_calls.h"
#include "distbench/protocol/grpc/wire/channel.h"

namespace distbench::external {

// Lets no more than a number of events per second pass. In any period of t
// seconds, at most rate * (t + 10 ms) + 1 events pass. Thread-safe.
class RateLimiter {
 public:
  // Requires per_second > 0.
  explicit RateLimiter(double per_second);

  // Lets an event pass and returns 0, or returns the time from which on the
  // next one may pass. Times are monotonic, in nanoseconds.
  int64_t TryPass(int64_t now_ns);

  // Takes back the last event that passed.
  void TakeBack();

 private:
  const int64_t interval_ns_;
  absl::Mutex mutex_;
  // When the next event would be due if all passed evenly.
  int64_t next_due_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

// One server, or several among which gRPC chooses: with a pool of connections
// to each of them. Used by the thread that has the worker's turn.
class ExternalPeer {
 public:
  // `limiters` are those of its servers that have a rate, and must outlive
  // this. Requires a channel for each of the server's connections.
  ExternalPeer(std::vector<protocol::Channel> channels,
               std::vector<RateLimiter*> limiters, const ExternalServer& server)
      : channels_(std::move(channels)),
        in_flight_(channels_.size()),
        methods_(channels_.size()),
        limiters_(std::move(limiters)),
        uses_least_in_flight_(server.uses_least_in_flight),
        max_response_bytes_(server.max_response_bytes) {}

  // Returns the channel of the next call, by its position, until GiveBack().
  size_t Take();
  void GiveBack(size_t position) { --in_flight_[position]; }

  // Makes a call over the channel whose completions go to the queue. The RPC
  // always has the same method, which gRPC looks up once.
  grpc_call* MakeCall(size_t position, int rpc_index, const std::string& method,
                      grpc_completion_queue* queue, gpr_timespec deadline);

  const std::vector<protocol::Channel>& channels() const { return channels_; }

  // Lets a message pass and returns 0, or returns the time from which on it may
  // be tried again.
  int64_t TryPass();

  int64_t max_response_bytes() const { return max_response_bytes_; }

  // How often messages began to be held back by a rate.
  int64_t held_back() const { return held_back_; }

 private:
  std::vector<protocol::Channel> channels_;
  std::vector<int64_t> in_flight_;           // by channel
  std::vector<std::vector<void*>> methods_;  // by channel and RPC; or null
  size_t next_ = 0;
  std::vector<RateLimiter*> limiters_;
  bool uses_least_in_flight_ = false;
  int64_t max_response_bytes_ = 0;
  bool is_held_back_ = false;
  int64_t held_back_ = 0;
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_PEER_H_
