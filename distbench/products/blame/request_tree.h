// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Traced requests, ready for analysis: complete trees of RPCs whose times fit
// into each other.

#ifndef DISTBENCH_PRODUCTS_BLAME_REQUEST_TREE_H_
#define DISTBENCH_PRODUCTS_BLAME_REQUEST_TREE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "distbench/products/blame/report.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::blame {

// Where an RPC waited before and after its handler ran.
struct CallWaits {
  int64_t network_ns = 0;
  int64_t server_queue_ns = 0;
};

// One RPC of a request. Names are numbers into TracedRequests.
struct Call {
  int rpc = 0;
  int server = 0;

  // Positions in RequestTree::calls; -1 for the root. Children are in the order
  // of their start. Those for which the handler did not wait, because it
  // answers early, are left out.
  int parent = -1;
  std::vector<int> children = {};

  // RPCs of one iteration of one action, which start together, have the same
  // number. Unique within the request.
  int fanout = 0;

  // Since the root was sent. Within the parent's times.
  int64_t start_ns = 0;
  int64_t end_ns = 0;

  // Absent if the server did not report them (measure_time_parts).
  std::optional<CallWaits> waits = {};

  int64_t duration_ns() const { return end_ns - start_ns; }
};

// A request: an RPC of a main action list, which is first, and all RPCs that it
// caused. Parents come before their children.
struct RequestTree {
  std::vector<Call> calls;

  // The instance that sent the request, and how late it did (open loop).
  int client = 0;
  int64_t lateness_ns = 0;

  // The response time; the service time in a closed loop.
  int64_t total_ns() const { return lateness_ns + calls.front().end_ns; }
};

// All traced requests that are the same RPC.
struct TracedRequests {
  std::vector<std::string> rpcs = {};  // the first is that of the requests
  std::vector<std::string> instances = {};
  std::vector<RequestTree> trees = {};  // in the order in which they were sent

  // What the report says of them: its counts and the kind of latency.
  ReportedBlame::BlamedRequests reported = {};
};

struct TracedTest {
  std::vector<TracedRequests> requests;  // sorted by the name of the RPC

  // Parts of requests whose root was not kept.
  int64_t rootless_count = 0;

  // Samples of RPCs, traced or not, that were not kept for lack of memory.
  int64_t dropped_sample_count = 0;
};

// Reads the traces of a result. An RPC is missing from a request if numbers
// within an iteration's fanout are missing, or if an action of the handler made
// fewer RPCs than it makes in other requests at the same instance. The latter
// is not required of actions whose number of RPCs the config leaves to chance
// or time: predicates, max_duration, fanouts such as stochastic{0.7:1,0.3:4}.
//
// The times of an RPC are those of its client's clock, and its client is the
// server of its parent: on another host, whose clock differs by the error of
// the estimated offset. RPCs that one handler sent therefore keep their
// distances, and are moved together by as little as brings them into the times
// of their parent. What sticks out on both sides is cut off.
TracedTest CollectRequests(const TestResult& result);

// What the config says about the RPCs that handlers make.
struct HandlerActions {
  explicit HandlerActions(const DistributedSystemDescription& config);

  // Actions of which chance or time decide how many RPCs they make, by
  // positions, as in a TraceContext: of the list in the config, and of the
  // action in the list.
  std::set<std::pair<int64_t, int64_t>> varying;

  // RPCs whose handlers may answer before their list is done.
  std::set<std::string> answering_early;
};

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_REQUEST_TREE_H_
