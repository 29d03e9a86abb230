// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Checks the properties that the traffic of every valid test must have.

#ifndef DISTBENCH_ENGINE_PROPERTY_TESTING_TRAFFIC_CHECK_H_
#define DISTBENCH_ENGINE_PROPERTY_TESTING_TRAFFIC_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "distbench/config/plan/plan.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::engine {

struct TrafficCheckOptions {
  // Whether the test's own limits must end it; otherwise its timeout does.
  bool ends_by_itself = false;

  // The probability that a send queue is full.
  double refusal_probability = 0;
  uint64_t seed = 0;
};

struct TrafficCheckResult {
  int64_t rpc_count = 0;
  bool overloaded = false;
  bool timed_out = false;

  // The violated properties, as sentences.
  std::vector<std::string> violations;
};

// Runs a test that CheckTestSequence() returned, over the loopback driver in
// its decorators and on simulated time, to its end, and checks that
// - it ends within a bounded number of turns, by itself or once it is stopped,
// - nothing is in flight at the end: every request has been answered once,
//   every call has ended once, and as many were handled as were sent,
//   has ended once, and as many were handled as were sent,
// - all of these are in the statistics,
// - no action exceeds its limits, and no instance exceeds max_pending_rpcs.
TrafficCheckResult CheckTraffic(const DistributedSystemDescription& test,
                                const TrafficCheckOptions& options);

// Returns what is wrong with the attempts of an instance's RPCs: each request
// has ended once, and so has each attempt. Empty if nothing is.
std::vector<std::string> CheckPolicies(const ServicePerformanceLog& log,
                                       const config::Plan& plan);

// Returns what is wrong with the messages of an RPC that streams as planned:
// streams that succeed have all of them. Empty if nothing is.
std::vector<std::string> CheckMessages(const StreamStatistics& statistics,
                                       const config::StreamPlan& plan);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_PROPERTY_TESTING_TRAFFIC_CHECK_H_
