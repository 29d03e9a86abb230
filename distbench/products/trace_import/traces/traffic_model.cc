// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/traces/traffic_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "absl/algorithm/container.h"

namespace distbench::trace_import {
namespace {

constexpr char kOtherOperations[] = "other_operations";

// Fewer arrivals do not show how regular they are.
constexpr int64_t kMinArrivals = 20;
// Intervals that vary less than this are constant, and more than this, bursty;
// a Poisson process has 1.
constexpr double kMaxConstantVariation = 0.3;
constexpr double kMaxPoissonVariation = 1.5;

// How the executions of one RPC call others: how often, at once or in turn.
class CallGroupCounter {
 public:
  void Add(const TracedCall& execution) {
    ++executions_;
    std::map<Called, Calls> calls;
    for (const TracedCall* child : execution.children) {
      const Span& span = child->outer();
      const Called called = {child->rpc, child->is_async};
      const auto [found, is_first] =
          calls.try_emplace(called, Calls{.first_start_ns = span.start_ns});
      Calls& group = found->second;
      if (!is_first) {
        const bool overlaps =
            child->is_async || span.start_ns < group.last_end_ns;
        counted_[called].overlapping += overlaps ? 1 : -1;
      }
      ++group.count;
      group.last_end_ns = std::max(group.last_end_ns, span.end_ns);
    }
    for (const auto& [called, group] : calls) {
      Counted& counted = counted_[called];
      ++counted.counts[group.count];
      ++counted.executions;
      counted.start_ns += static_cast<double>(group.first_start_ns -
                                              execution.outer().start_ns);
      for (const auto& [other, others] : calls) {
        const bool is_first = group.last_end_ns <= others.first_start_ns;
        preceding_[{called, other}] += is_first ? 1 : -1;
      }
    }
  }

  std::vector<CallGroup> Groups() const {
    std::vector<std::pair<double, Called>> by_start;
    for (const auto& [called, counted] : counted_) {
      by_start.push_back(
          {counted.start_ns / static_cast<double>(counted.executions), called});
    }
    absl::c_sort(by_start);
    std::vector<CallGroup> groups;
    std::vector<std::set<int>> all_before(by_start.size());
    for (const auto& [start_ns, called] : by_start) {
      const Counted& counted = counted_.at(called);
      std::set<int>& before = all_before[groups.size()];
      CallGroup group;
      std::tie(group.rpc, group.is_async) = called;
      group.counts = counted.counts;
      if (counted.executions < executions_) {
        group.counts[0] = executions_ - counted.executions;
      }
      group.is_parallel = counted.overlapping > 0;
      // Later ones first, because earlier ones follow from them.
      for (int i = static_cast<int>(groups.size()) - 1; i >= 0; --i) {
        if (before.contains(i) || !Precedes(by_start[i].second, called)) {
          continue;
        }
        group.after.insert(group.after.begin(), i);
        before.insert(i);
        before.insert(all_before[i].begin(), all_before[i].end());
      }
      groups.push_back(std::move(group));
    }
    return groups;
  }

 private:
  using Called = std::pair<int, bool>;  // RPC, is_async

  // The calls of one RPC by one execution.
  struct Calls {
    int count = 0;
    int64_t first_start_ns = 0;
    int64_t last_end_ns = 0;
  };

  struct Counted {
    std::map<int, int64_t> counts;  // without 0
    int64_t executions = 0;
    double start_ns = 0;  // sum of the first starts, after the parents'

    // How many more calls overlap with one before them than do not.
    int64_t overlapping = 0;
  };

  // Nothing is after calls that nobody waits for.
  bool Precedes(const Called& first, const Called& second) const {
    const auto preceding = preceding_.find({first, second});
    return !first.second && preceding != preceding_.end() &&
           preceding->second > 0;
  }

  int64_t executions_ = 0;
  std::map<Called, Counted> counted_;

  // Of two that the same executions call: in how many more of them the first
  // had ended when the second began than had not.
  std::map<std::pair<Called, Called>, int64_t> preceding_;
};

// The times of one client's requests of one RPC, and what each of them adds to
// the rate.
ArrivalModel Judge(std::vector<int64_t> starts_ns, double rate_per_request) {
  ArrivalModel arrivals;
  arrivals.count = static_cast<int64_t>(starts_ns.size());
  arrivals.rate_per_second =
      rate_per_request * static_cast<double>(starts_ns.size());
  absl::c_sort(starts_ns);
  const double span_ns =
      static_cast<double>(starts_ns.back() - starts_ns.front());
  if (span_ns <= 0) return arrivals;
  const double intervals = static_cast<double>(arrivals.count - 1);
  const double mean_ns = span_ns / intervals;
  double squares = 0;
  for (size_t i = 1; i < starts_ns.size(); ++i) {
    const double difference =
        static_cast<double>(starts_ns[i] - starts_ns[i - 1]) - mean_ns;
    squares += difference * difference;
  }
  arrivals.variation = std::sqrt(squares / intervals) / mean_ns;
  if (arrivals.count < kMinArrivals) return arrivals;
  arrivals.process = arrivals.variation < kMaxConstantVariation
                         ? ArrivalModel::Process::kConstant
                     : arrivals.variation <= kMaxPoissonVariation
                         ? ArrivalModel::Process::kPoisson
                         : ArrivalModel::Process::kBursty;
  return arrivals;
}

// The name of the client of requests whose client is not in the traces. Differs
// from all services.
std::string OutsideClient(const TraceSet& traces) {
  std::set<std::string> services;
  for (const TracedCall& call : traces.calls) {
    services.insert({call.client(), call.server});
  }
  std::string name = "users";
  while (services.contains(name)) name += "_outside";
  return name;
}

// From the smallest to the largest one; 0 of none.
int64_t RangeOf(const std::vector<int64_t>& values) {
  if (values.empty()) return 0;
  const auto [least, most] = absl::c_minmax_element(values);
  return *most - *least;
}

class Inference {
 public:
  Inference(TraceSet& traces, const InferenceOptions& options)
      : traces_(traces), outside_(OutsideClient(traces)) {
    model_.options = options;
    model_.notes = traces.notes;
    model_.traces = static_cast<int64_t>(traces.traces);
    model_.sizes.resize(traces.traces);
    model_.depths.resize(traces.traces);
  }

  TrafficModel Infer() {
    NameRpcs();
    for (const TracedCall& call : traces_.calls) Count(call);
    model_.duration_ns = RangeOf(begins_ns_);
    JudgeArrivals();
    std::vector<CallGroupCounter> groups(model_.rpcs.size());
    for (const TracedCall& call : traces_.calls) {
      if (!SaysWhatItsRpcDoes(call)) continue;
      RpcModel& rpc = model_.rpcs[call.rpc];
      rpc.self_ns.push_back(call.self_ns);
      rpc.server_ns.push_back(call.served_ns());
      groups[call.rpc].Add(call);
    }
    for (size_t i = 0; i < groups.size(); ++i) {
      model_.rpcs[i].groups = groups[i].Groups();
    }
    return std::move(model_);
  }

 private:
  using RpcName = std::pair<std::string, std::string>;  // server, operation

  void NameRpcs() {
    FindRareOperations();
    std::map<RpcName, int> positions;
    for (const TracedCall& call : traces_.calls) positions[NameOf(call)] = 0;
    for (auto& [name, position] : positions) {
      position = static_cast<int>(model_.rpcs.size());
      RpcModel& rpc = model_.rpcs.emplace_back();
      std::tie(rpc.server, rpc.operation) = name;
    }
    for (TracedCall& call : traces_.calls) {
      call.rpc = positions.at(NameOf(call));
    }
  }

  // Those that are not among the most frequent ones of their service.
  void FindRareOperations() {
    std::map<std::string, std::map<std::string, int64_t>> counts;
    for (const TracedCall& call : traces_.calls) {
      ++counts[call.server][call.operation()];
    }
    for (const auto& [server, operations] : counts) {
      std::vector<std::pair<int64_t, std::string>> by_count;
      for (const auto& [operation, count] : operations) {
        by_count.push_back({-count, operation});
      }
      absl::c_sort(by_count);
      for (size_t i = model_.options.max_operations; i < by_count.size(); ++i) {
        const auto& [count, operation] = by_count[i];
        rare_.insert({server, operation});
        model_.notes["calls of rare operations count as one operation"] -=
            count;
      }
    }
  }

  RpcName NameOf(const TracedCall& call) const {
    const RpcName name = {call.server, call.operation()};
    return rare_.contains(name) ? RpcName(call.server, kOtherOperations) : name;
  }

  void AddService(const std::string& name) {
    const auto instances = traces_.instances.find(name);
    model_.services[name] =
        instances == traces_.instances.end()
            ? 0
            : static_cast<int64_t>(instances->second.size());
  }

  void Count(const TracedCall& call) {
    const int64_t start_ns = call.outer().start_ns;
    if (model_.sizes[call.trace]++ == 0) begins_ns_.push_back(start_ns);
    int64_t& depth = model_.depths[call.trace];
    depth = std::max(depth, call.depth);
    CountCall(call, model_.rpcs[call.rpc]);
    AddService(call.server);
    if (call.parent == nullptr && !call.is_arrival) {
      ++model_.fragments;
      return;
    }
    const std::string client = call.client();
    AddService(client.empty() ? outside_ : client);
    if (!call.is_arrival) return;
    arrivals_ns_.push_back(start_ns);
    arrivals_by_client_[{client.empty() ? outside_ : client, call.rpc}]
        .push_back(start_ns);
  }

  static void CountCall(const TracedCall& call, RpcModel& rpc) {
    ++rpc.calls;
    rpc.async_calls += call.is_async;
    if (call.failed()) {
      ++rpc.failures;
      rpc.failed_ns += call.duration_ns();
    }
    rpc.server_is_inferred |= call.server_is_inferred;
    rpc.executions += call.server_span != nullptr;
    const int64_t request_bytes = call.request_bytes();
    const int64_t response_bytes = call.response_bytes();
    if (request_bytes < 0 && response_bytes < 0) return;
    rpc.sizes.push_back({std::max<int64_t>(0, request_bytes),
                         std::max<int64_t>(0, response_bytes)});
    rpc.without_request_size += request_bytes < 0;
    rpc.without_response_size += response_bytes < 0;
  }

  // Rates are over the time in which any request arrived, because a few
  // requests that are near one another say nothing about how rare they are. All
  // rates sum to the number of intervals in this time.
  void JudgeArrivals() {
    const double range_ns = static_cast<double>(RangeOf(arrivals_ns_));
    const double count = static_cast<double>(arrivals_ns_.size());
    const double rate =
        range_ns > 0 ? 1e9 * (count - 1) / (count * range_ns) : 0;
    for (auto& [key, starts_ns] : arrivals_by_client_) {
      ArrivalModel arrivals = Judge(std::move(starts_ns), rate);
      std::tie(arrivals.client, arrivals.rpc) = key;
      model_.arrivals.push_back(std::move(arrivals));
    }
  }

  // If some calls of an RPC have a span of the server, what others did there
  // was not recorded.
  bool SaysWhatItsRpcDoes(const TracedCall& call) const {
    if (model_.options.only_successes && call.failed()) return false;
    return call.server_span != nullptr || !call.children.empty() ||
           model_.rpcs[call.rpc].executions == 0;
  }

  TraceSet& traces_;
  const std::string outside_;
  TrafficModel model_;
  std::set<RpcName> rare_;
  std::vector<int64_t> begins_ns_;    // of traces
  std::vector<int64_t> arrivals_ns_;  // of all requests
  std::map<std::pair<std::string, int>, std::vector<int64_t>>
      arrivals_by_client_;  // and by RPC
};

}  // namespace

TrafficModel InferTraffic(TraceSet traces, const InferenceOptions& options) {
  return Inference(traces, options).Infer();
}

}  // namespace distbench::trace_import
