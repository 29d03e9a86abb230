// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What traces say about traffic: services, RPCs, who calls whom, and how often.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_TRAFFIC_MODEL_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_TRAFFIC_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "distbench/products/trace_import/traces/call_tree.h"

namespace distbench::trace_import {

// The calls of one RPC that executions of another one make, and wait for or do
// not wait for.
struct CallGroup {
  int rpc = 0;            // which is called
  bool is_async = false;  // nobody waits for these

  // How many executions make so many calls; includes those without any.
  std::map<int, int64_t> counts;

  // Whether the calls of an execution overlap in time, mostly, or nobody waits
  // for one before the next.
  bool is_parallel = false;

  // Positions of the groups, all before this one, that have mostly ended when
  // this one starts. Without those that follow from others.
  std::vector<int> after;
};

struct InferenceOptions {
  // Executions that failed say nothing about what their RPC does: their times
  // and their calls of others are left out.
  bool only_successes = false;

  // Of a service, the most frequent ones. The others count as one.
  size_t max_operations = 100;
};

struct RpcModel {
  std::string server;  // service
  std::string operation;
  bool server_is_inferred = false;  // of any call

  int64_t calls = 0;
  int64_t async_calls = 0;  // those that nobody waits for
  int64_t failures = 0;     // of the calls
  int64_t failed_ns = 0;    // that failed calls took together
  int64_t executions = 0;   // of which the server's side was seen

  // In no order. Times are of the executions, or, if the server was never seen,
  // of the calls.
  std::vector<int64_t> self_ns;
  std::vector<int64_t> server_ns;
  std::vector<std::pair<int64_t, int64_t>> sizes;  // request, response; bytes

  // How many of `sizes` are 0 because only the other direction's is known.
  int64_t without_request_size = 0;
  int64_t without_response_size = 0;

  std::vector<CallGroup> groups;  // in the order of their mean starts
};

// Requests of one RPC that nothing in the traces caused.
struct ArrivalModel {
  // How their times look; kFew: too few to tell.
  enum class Process { kFew, kConstant, kPoisson, kBursty };

  std::string client;  // service; "users" or the like if it is not known
  int rpc = 0;
  int64_t count = 0;
  double rate_per_second = 0;  // over the time of all arrivals; 0: not known
  double variation = 0;        // of the intervals: deviation / mean
  Process process = Process::kFew;
};

struct TrafficModel {
  InferenceOptions options;                 // with which it was inferred
  std::map<std::string, int64_t> services;  // and their instances; 0: not known
  std::vector<RpcModel> rpcs;
  std::vector<ArrivalModel> arrivals;

  int64_t traces = 0;
  int64_t fragments = 0;        // calls whose cause is missing
  std::vector<int64_t> sizes;   // calls of each trace
  std::vector<int64_t> depths;  // of each trace; 1: nothing is called below
  int64_t duration_ns = 0;      // from the first start to the last
  ImportNotes notes;
};

// That operations count as one is noted. Sorted by names, so that equal traces
// give equal models.
TrafficModel InferTraffic(TraceSet traces,
                          const InferenceOptions& options = {});

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_TRAFFIC_MODEL_H_
