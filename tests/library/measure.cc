// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/library/measure.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/results/walk.h"

namespace distbench {
namespace {

using Names = google::protobuf::RepeatedPtrField<std::string>;

std::vector<double> OfEachCall(
    const TestResult& result, const std::string& rpc,
    absl::FunctionRef<double(const RpcSample&)> value) {
  std::vector<double> values;
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    if (view.rpc_name != rpc) return;
    for (const RpcSample& sample : view.log.successful_rpc_samples()) {
      values.push_back(value(sample));
    }
  });
  return values;
}

// Identifies a call of a main list, and all calls that it caused.
using Origin = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>;

Origin OriginOf(const TraceContext& trace) {
  return {trace.engine_ids(0),
          trace.actionlist_indices(0),
          trace.actionlist_invocations(0),
          trace.action_indices(0),
          trace.action_iterations(0),
          trace.fanout_index(0)};
}

std::vector<double> Descendants(const TestResult& result,
                                const std::string& rpc) {
  std::map<Origin, double> counts;  // including the first call
  std::set<Origin> of_the_rpc;
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    for (const RpcSample& sample : view.log.successful_rpc_samples()) {
      const TraceContext& trace = sample.trace_context();
      if (trace.engine_ids().empty()) continue;
      ++counts[OriginOf(trace)];
      if (trace.engine_ids_size() == 1 && view.rpc_name == rpc) {
        of_the_rpc.insert(OriginOf(trace));
      }
    }
  });
  std::vector<double> descendants;
  for (const Origin& origin : of_the_rpc) {
    descendants.push_back(counts[origin] - 1);
  }
  return descendants;
}

double Calls(const RpcStatistics& statistics) {
  return static_cast<double>(statistics.succeeded_count() +
                             statistics.failed_count() +
                             statistics.warmup_count());
}

double ServiceTime(const RpcStatistics& statistics) {
  return statistics.service_time_ns().sum();
}

// The value of each RPC that is named or covered by "*", added up.
double Sum(const TestResult& result, const Names& rpcs,
           double (*value)(const RpcStatistics&)) {
  double sum = 0;
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    for (const std::string& name : rpcs) {
      if (name == "*" || name == view.rpc_name) {
        sum += value(view.log.statistics());
      }
    }
  });
  return sum;
}

double Quotient(const TestResult& result, const Ratio& ratio, int64_t seconds,
                double (*value)(const RpcStatistics&)) {
  const double divisor = ratio.per().empty() ? static_cast<double>(seconds)
                                             : Sum(result, ratio.per(), value);
  return divisor == 0 ? 0 : Sum(result, ratio.of(), value) / divisor;
}

double ShareOfServices(const DistributedSystemDescription& test,
                       const std::string& role) {
  std::map<std::string, std::set<std::string>> callers;
  std::set<std::string> clients;
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    callers[rpc.server()].insert(rpc.client().begin(), rpc.client().end());
    clients.insert(rpc.client().begin(), rpc.client().end());
  }
  double count = 0;
  for (const auto& [service, its_callers] : callers) {
    const bool is_entry = std::none_of(
        its_callers.begin(), its_callers.end(),
        [&](const std::string& caller) { return callers.contains(caller); });
    const absl::string_view its_role = is_entry                    ? "entry"
                                       : clients.contains(service) ? "middle"
                                                                   : "leaf";
    if (its_role == role) ++count;
  }
  return callers.empty() ? 0 : count / static_cast<double>(callers.size());
}

std::vector<double> Values(const Marginal& marginal, const TestResult& result,
                           int64_t seconds) {
  switch (marginal.measured_case()) {
    case Marginal::kRequestBytes:
      return OfEachCall(result, marginal.request_bytes(),
                        [](const RpcSample& sample) {
                          return static_cast<double>(sample.request_size());
                        });
    case Marginal::kResponseBytes:
      return OfEachCall(result, marginal.response_bytes(),
                        [](const RpcSample& sample) {
                          return static_cast<double>(sample.response_size());
                        });
    case Marginal::kLatencyMs:
      return OfEachCall(result, marginal.latency_ms(),
                        [](const RpcSample& sample) {
                          return static_cast<double>(sample.latency_ns()) / 1e6;
                        });
    case Marginal::kDescendants:
      return Descendants(result, marginal.descendants());
    case Marginal::kCalls:
      return {Quotient(result, marginal.calls(), seconds, Calls)};
    case Marginal::kServiceTime:
      return {Quotient(result, marginal.service_time(), seconds, ServiceTime)};
    case Marginal::kServices:
      return {ShareOfServices(result.traffic_config(), marginal.services())};
    case Marginal::MEASURED_NOT_SET:
      return {};
  }
  return {};
}

}  // namespace

absl::StatusOr<std::vector<double>> Measure(const Marginal& marginal,
                                            const TestResult& result,
                                            int64_t seconds) {
  std::vector<double> values = Values(marginal, result, seconds);
  if (values.empty()) {
    return absl::NotFoundError(
        absl::StrCat(marginal.quantity(),
                     ": the run has no values; correct the name of the RPC"));
  }
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace distbench
