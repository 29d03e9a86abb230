// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Simulated requests of which it is known what makes them slow.

#ifndef DISTBENCH_PRODUCTS_BLAME_TESTING_SIMULATED_REQUESTS_H_
#define DISTBENCH_PRODUCTS_BLAME_TESTING_SIMULATED_REQUESTS_H_

#include <cstdint>
#include <vector>

#include "distbench/products/blame/critical_path.h"
#include "distbench/products/blame/request_tree.h"
#include "proto/results.pb.h"

namespace distbench::blame {

// Makes a request of calls without children, which are added from the others'
// parents. The first call is the root; siblings are in the order of their
// start.
RequestTree TreeOf(std::vector<Call> calls);

// The RPCs of a request: a client queries a root, the root ranks at one of two
// middle instances, which looks up at all leaves at once.
enum SimulatedRpc { kQuery = 0, kRank = 1, kLookup = 2 };

// What makes some RPCs slow.
struct Trouble {
  int rpc = kQuery;
  int instance = -1;  // the number of the server; -1: all
  BlamePart part = BlamePart::kServerHandler;
  double probability = 0;
  int64_t extra_ns = 0;
};

// How a middle instance asks the leaves.
enum class Asking {
  kAllAtOnce,
  kAllInTurn,     // one after the other
  kOne,           // each request another, by random
  kThree,         // at once, by random
  kThreeOrFirst,  // the same, but large requests always ask the first, too
};

struct SimulatedSystem {
  int requests = 2'000;
  int leaves = 10;
  Asking asking = Asking::kAllAtOnce;

  // Requests that take several times as long everywhere.
  double large_share = 0;
  double largeness = 5;

  // With this probability, a request begins a pause of a leaf, which makes all
  // RPCs of the next pause_requests there 3 ms longer.
  double pause_share = 0;
  int pause_requests = 20;

  // Network, queue and own time in the handler of each RPC: exponential with
  // this mean, or always this long.
  int64_t mean_ns = 100'000;
  bool is_random = true;

  Trouble trouble = {};
  uint64_t seed = 1;
};

// Half of the network and of the handler's own time come before what the
// handler waits for.
TracedRequests Simulate(const SimulatedSystem& system);

// Returns the result of a test that would have left these requests as traces,
// with the clock of each middle instance off by skew_ns.
TestResult ResultOf(const TracedRequests& requests, int64_t skew_ns = 0);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_TESTING_SIMULATED_REQUESTS_H_
