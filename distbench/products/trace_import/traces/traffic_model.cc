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
  // Counts an execution: `trace[position]`. `rpcs` are the RPCs of the calls of
  // the trace.
  void Add(const Trace& trace, int position, const std::vector<int>& rpcs) {
    ++executions_;
    std::map<Called, Calls> calls;
    for (const int child : trace[position].children) {
      const TracedCall& call = trace[child];
      Calls& group = calls[{rpcs[child], call.is_async}];
      group.overlapping += group.count > 0 &&
                           (call.is_async || call.start_ns < group.last_end_ns);
      ++group.count;
      group.first_start_ns = std::min(group.first_start_ns, call.start_ns);
      group.last_end_ns = std::max(group.last_end_ns, call.end_ns);
    }
    for (const auto& [called, group] : calls) {
      Counted& counted = counted_[called];
      ++counted.counts[group.count];
      ++counted.executions;
      counted.pairs += group.count - 1;
      counted.overlapping_pairs += group.overlapping;
      counted.start_ns +=
          static_cast<double>(group.first_start_ns - trace[position].start_ns);
      for (const auto& [other, other_group] : calls) {
        if (other == called) continue;
        Order& order = order_[{called, other}];
        ++order.executions;
        order.first_ended += group.last_end_ns <= other_group.first_start_ns;
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
      CallGroup group = {.rpc = called.first,
                         .is_async = called.second,
                         .counts = counted.counts};
      if (counted.executions < executions_) {
        group.counts[0] = executions_ - counted.executions;
      }
      group.is_parallel = 2 * counted.overlapping_pairs > counted.pairs;
      std::set<int>& before = all_before[groups.size()];
      // Later ones first, because earlier ones follow from them.
      for (int i = static_cast<int>(groups.size()) - 1; i >= 0; --i) {
        if (before.count(i) > 0 || !Precedes(by_start[i].second, called)) {
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
    int64_t first_start_ns = std::numeric_limits<int64_t>::max();
    int64_t last_end_ns = 0;
    int64_t overlapping = 0;  // with an earlier one
  };

  struct Counted {
    std::map<int, int64_t> counts;  // without 0
    int64_t executions = 0;
    int64_t pairs = 0;  // of calls, one after the other by their starts
    int64_t overlapping_pairs = 0;
    double start_ns = 0;  // sum of the first starts, after the parents'
  };

  // Of two RPCs that the same execution calls.
  struct Order {
    int64_t executions = 0;
    int64_t first_ended = 0;  // the first's calls before the second's began
  };

  // Nothing is after calls that nobody waits for.
  bool Precedes(const Called& first, const Called& second) const {
    const auto order = order_.find({first, second});
    return !first.second && order != order_.end() &&
           2 * order->second.first_ended > order->second.executions;
  }

  int64_t executions_ = 0;
  std::map<Called, Counted> counted_;
  std::map<std::pair<Called, Called>, Order> order_;
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
  for (const Trace& trace : traces.traces) {
    for (const TracedCall& call : trace) {
      services.insert({call.client, call.server});
    }
  }
  std::string name = "users";
  while (services.count(name) > 0) name += "_outside";
  return name;
}

class Inference {
 public:
  Inference(const TraceSet& traces, const InferenceOptions& options)
      : traces_(traces), outside_(OutsideClient(traces)) {
    model_.options = options;
    model_.notes = traces.notes;
    model_.traces = static_cast<int64_t>(traces.traces.size());
  }

  TrafficModel Infer() {
    NameRpcs();
    for (const Trace& trace : traces_.traces) CountCalls(trace);
    for (const Trace& trace : traces_.traces) MeasureExecutions(trace);
    for (size_t i = 0; i < groups_.size(); ++i) {
      model_.rpcs[i].groups = groups_[i].Groups();
    }
    CoverTime();
    const double rate_per_request = RatePerRequest();
    for (auto& [key, starts_ns] : arrivals_) {
      ArrivalModel arrivals = Judge(std::move(starts_ns), rate_per_request);
      std::tie(arrivals.client, arrivals.rpc) = key;
      model_.arrivals.push_back(std::move(arrivals));
    }
    return std::move(model_);
  }

 private:
  using RpcName = std::pair<std::string, std::string>;  // server, operation

  static RpcName NameOf(const TracedCall& call) {
    return {call.server, call.operation};
  }

  // Keeps the most frequent operations of each service.
  void NameRpcs() {
    std::map<std::string, std::map<std::string, int64_t>> counts;
    for (const Trace& trace : traces_.traces) {
      for (const TracedCall& call : trace) {
        ++counts[call.server][call.operation];
      }
    }
    std::map<RpcName, int> kept;
    std::map<RpcName, RpcName> names;
    for (const auto& [server, operations] : counts) {
      std::vector<std::pair<int64_t, std::string>> by_count;
      for (const auto& [operation, count] : operations) {
        by_count.push_back({-count, operation});
      }
      absl::c_sort(by_count);
      for (size_t i = 0; i < by_count.size(); ++i) {
        const auto& [count, operation] = by_count[i];
        const bool is_kept = i < model_.options.max_operations;
        const RpcName name = {server, is_kept ? operation : kOtherOperations};
        names[{server, operation}] = name;
        kept[name] = 0;
        if (is_kept) continue;
        model_.notes["calls of rare operations count as one operation"] -=
            count;
      }
    }
    for (auto& [name, index] : kept) {
      index = static_cast<int>(model_.rpcs.size());
      model_.rpcs.push_back({.server = name.first, .operation = name.second});
    }
    for (const auto& [name, kept_name] : names) {
      indices_[name] = kept.at(kept_name);
    }
    groups_.resize(model_.rpcs.size());
  }

  int IndexOf(const TracedCall& call) const {
    return indices_.at(NameOf(call));
  }

  // A call's client is the server of the call that caused it.
  std::string ClientOf(const Trace& trace, const TracedCall& call) const {
    if (call.parent >= 0) return trace[call.parent].server;
    return call.client.empty() ? outside_ : call.client;
  }

  void AddService(const std::string& name) {
    const auto instances = traces_.instances.find(name);
    model_.services[name] =
        instances == traces_.instances.end()
            ? 0
            : static_cast<int64_t>(instances->second.size());
  }

  void CountCalls(const Trace& trace) {
    std::vector<int64_t> depths;
    for (const TracedCall& call : trace) {
      const int index = IndexOf(call);
      CountCall(call, model_.rpcs[index]);
      depths.push_back(call.parent < 0 ? 1 : depths[call.parent] + 1);
      AddService(call.server);
      if (call.parent < 0 && !call.is_arrival) {
        ++model_.fragments;
        continue;
      }
      const std::string client = ClientOf(trace, call);
      AddService(client);
      if (call.is_arrival) arrivals_[{client, index}].push_back(call.start_ns);
    }
    model_.sizes.push_back(static_cast<int64_t>(trace.size()));
    model_.depths.push_back(*absl::c_max_element(depths));
  }

  static void CountCall(const TracedCall& call, RpcModel& rpc) {
    ++rpc.calls;
    rpc.async_calls += call.is_async;
    if (call.failed) {
      ++rpc.failures;
      rpc.failed_ns += call.end_ns - call.start_ns;
    }
    rpc.server_is_inferred |= call.server_is_inferred;
    rpc.executions += call.has_server_span();
    if (call.request_bytes < 0 && call.response_bytes < 0) return;
    rpc.sizes.push_back({std::max<int64_t>(0, call.request_bytes),
                         std::max<int64_t>(0, call.response_bytes)});
    rpc.without_request_size += call.request_bytes < 0;
    rpc.without_response_size += call.response_bytes < 0;
  }

  void CoverTime() {
    if (traces_.traces.empty()) return;
    const auto [first, last] = absl::c_minmax_element(
        traces_.traces, [](const Trace& a, const Trace& b) {
          return a.front().start_ns < b.front().start_ns;
        });
    model_.duration_ns = last->front().start_ns - first->front().start_ns;
  }

  // Over the time in which any request arrived, because a few requests that are
  // near one another say nothing about how rare they are. All rates sum to the
  // number of intervals in this time. 0: there is no such time.
  double RatePerRequest() const {
    std::vector<int64_t> all;
    for (const auto& [key, starts_ns] : arrivals_) {
      all.insert(all.end(), starts_ns.begin(), starts_ns.end());
    }
    if (all.empty()) return 0;
    const auto [first, last] = absl::c_minmax_element(all);
    if (*last <= *first) return 0;
    const double count = static_cast<double>(all.size());
    return 1e9 * (count - 1) / (count * static_cast<double>(*last - *first));
  }

  // If some calls of an RPC have a span of the server, what others did there
  // was not recorded.
  void MeasureExecutions(const Trace& trace) {
    std::vector<int> rpcs;
    for (const TracedCall& call : trace) rpcs.push_back(IndexOf(call));
    for (size_t i = 0; i < trace.size(); ++i) {
      const TracedCall& call = trace[i];
      RpcModel& rpc = model_.rpcs[rpcs[i]];
      if (model_.options.only_successes && call.failed) continue;
      if (rpc.executions > 0 && !call.has_server_span() &&
          call.children.empty()) {
        continue;
      }
      groups_[rpcs[i]].Add(trace, static_cast<int>(i), rpcs);
      rpc.self_ns.push_back(call.self_ns);
      rpc.server_ns.push_back(call.has_server_span()
                                  ? call.server_ns
                                  : call.end_ns - call.start_ns);
    }
  }

  const TraceSet& traces_;
  const std::string outside_;
  TrafficModel model_;
  std::map<RpcName, int> indices_;
  std::vector<CallGroupCounter> groups_;  // by RPC
  std::map<std::pair<std::string, int>, std::vector<int64_t>> arrivals_;
};

}  // namespace

TrafficModel InferTraffic(const TraceSet& traces,
                          const InferenceOptions& options) {
  return Inference(traces, options).Infer();
}

}  // namespace distbench::trace_import
