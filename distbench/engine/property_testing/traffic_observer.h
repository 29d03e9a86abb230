// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Watches the calls of a whole system, between its engines and their drivers.

#ifndef DISTBENCH_ENGINE_PROPERTY_TESTING_TRAFFIC_OBSERVER_H_
#define DISTBENCH_ENGINE_PROPERTY_TESTING_TRAFFIC_OBSERVER_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "distbench/config/plan/plan.h"
#include "distbench/fuzzing/random_source.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/streams.h"

namespace distbench::engine {

// The events of one RPC at one instance: of the calls that it sends, or of the
// requests that it handles.
struct CallCounts {
  int64_t started = 0;  // handed to the driver, or delivered by it
  int64_t ended = 0;    // reported done, or answered
  int64_t most_at_once = 0;

  void Start();
  void End() { ++ended; }
  int64_t in_flight() const { return started - ended; }
};

// Counts all calls and notes violations of the contract of driver.h. May also
// make drivers refuse calls occasionally, as if their send queues were full.
// For one thread.
class TrafficObserver {
 public:
  // By instance and RPC.
  using Counts = std::map<std::pair<int, int>, CallCounts>;

  // refusal_probability: the probability that a driver refuses a call. The plan
  // must outlive this.
  TrafficObserver(const config::Plan& plan, double refusal_probability,
                  uint64_t seed)
      : plan_(plan), refusal_probability_(refusal_probability), random_(seed) {}

  // Wraps a driver in one that is watched. This must outlive it.
  std::unique_ptr<protocol::ProtocolDriver> Watch(
      int instance, std::unique_ptr<protocol::ProtocolDriver> driver);

  // The earliest deadline after now_ns of a call in flight; INT64_MAX if there
  // is none. An instance that is frozen sees its deadlines later.
  int64_t next_deadline_ns(int64_t now_ns) const {
    const auto next = deadlines_.upper_bound(now_ns);
    return next == deadlines_.end() ? std::numeric_limits<int64_t>::max()
                                    : *next;
  }

  const Counts& sent() const { return sent_; }
  const Counts& handled() const { return handled_; }
  int64_t refused_count() const { return refused_count_; }

  // The maximum number of calls that an instance had in flight, over all RPCs.
  int64_t most_in_flight(int instance) const;

  // The violations, as sentences.
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  friend class WatchedStreams;
  friend class WatchedTransport;

  // Whether the driver should refuse a call.
  bool Refuses();
  void OnStart(int instance, const protocol::ClientCall& call);
  void OnDone(int instance, const protocol::ClientCall& call);
  void OnRequest(int instance, const protocol::ServerCall& call);
  void OnReply(int instance, const protocol::ServerCall& call);
  void Complain(int instance, const std::string& what);

  struct CallInFlight {
    int rpc;
    int64_t deadline_ns;
  };

  const config::Plan& plan_;
  const double refusal_probability_;
  fuzzing::RandomSource random_;
  Counts sent_;
  Counts handled_;
  std::map<int, CallCounts> by_instance_;
  std::map<const protocol::ClientCall*, CallInFlight> calls_;
  std::set<const protocol::ServerCall*> requests_;
  std::multiset<int64_t> deadlines_;
  int64_t refused_count_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_PROPERTY_TESTING_TRAFFIC_OBSERVER_H_
