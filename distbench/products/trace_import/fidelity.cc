// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/fidelity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/engine/virtual_time/virtual_time_system.h"
#include "distbench/products/trace_import/spans/spans.h"
#include "distbench/products/trace_import/traces/call_tree.h"
#include "distbench/report/export/traces.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::trace_import {
namespace {

constexpr uint64_t kSeed = 1;

// Enough for a distance of some hundredths.
constexpr double kArrivals = 3000;
// Of traces with many calls, there are fewer.
constexpr double kMaxCalls = 100'000;
constexpr double kLeastSimulatedUs = 1;
// Results have an interval for each second.
constexpr double kMostSimulatedUs = 30 * 24 * 3600 * 1e6;
// Fewer values do not show how they are distributed.
constexpr size_t kLeastCompared = 20;
// A simulation that needs more than this gets nowhere.
constexpr int64_t kMaxTurns = 50'000'000;
constexpr int64_t kSampleMemoryBytes = int64_t{1} << 30;

// Missing if that of any arrivals is not known.
std::optional<double> ArrivalRate(const TrafficModel& model) {
  double rate = 0;
  for (const ArrivalModel& arrival : model.arrivals) {
    if (arrival.rate_per_second <= 0) return std::nullopt;
    rate += arrival.rate_per_second;
  }
  return rate;
}

std::vector<int64_t> Sorted(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

std::optional<double> DistanceIfEnough(const std::vector<int64_t>& traces,
                                       const std::vector<int64_t>& simulated) {
  if (std::min(traces.size(), simulated.size()) < kLeastCompared) {
    return std::nullopt;
  }
  return RelativeDistance(traces, simulated);
}

double FailedShare(const RpcModel& rpc) {
  return static_cast<double>(rpc.failures) /
         static_cast<double>(std::max<int64_t>(1, rpc.calls));
}

int64_t ArrivalCount(const TrafficModel& model) {
  int64_t count = 0;
  for (const ArrivalModel& arrival : model.arrivals) count += arrival.count;
  return count;
}

double PerArrival(const TrafficModel& model, int64_t calls) {
  return static_cast<double>(calls) /
         static_cast<double>(std::max<int64_t>(1, ArrivalCount(model)));
}

RpcFidelity CompareRpc(const TrafficModel& traces, const RpcModel& traced,
                       const TrafficModel& simulation,
                       const RpcModel& simulated) {
  constexpr double kUsPerNs = 1e-3;
  const std::vector<int64_t> a = Sorted(traced.server_ns);
  const std::vector<int64_t> b = Sorted(simulated.server_ns);
  RpcFidelity fidelity;
  fidelity.calls_per_arrival = {PerArrival(traces, traced.calls),
                                PerArrival(simulation, simulated.calls)};
  fidelity.failed_share = {FailedShare(traced), FailedShare(simulated)};
  fidelity.measured = {static_cast<double>(a.size()),
                       static_cast<double>(b.size())};
  fidelity.mean_us = {kUsPerNs * Mean(a), kUsPerNs * Mean(b)};
  fidelity.p99_us = {kUsPerNs * Quantile(a, 0.99),
                     kUsPerNs * Quantile(b, 0.99)};
  fidelity.latency_distance = DistanceIfEnough(a, b);
  return fidelity;
}

// The RPCs of the simulation by their names in the config, which are the ends
// of the spans' names, "SERVICE/RPC".
std::map<std::string, const RpcModel*> ByName(const TrafficModel& simulation) {
  std::map<std::string, const RpcModel*> by_name;
  for (const RpcModel& rpc : simulation.rpcs) {
    by_name[rpc.operation.substr(rpc.server.size() + 1)] = &rpc;
  }
  return by_name;
}

// Makes the test as long as is worth simulating, however long the traces are.
void SetDuration(const TrafficModel& model, double arrivals_per_second,
                 DistributedSystemDescription& test) {
  int64_t calls = 0;
  for (const RpcModel& rpc : model.rpcs) calls += rpc.calls;
  const double arrivals =
      std::min(kArrivals, kMaxCalls / std::max(1.0, PerArrival(model, calls)));
  const double duration_us = 1e6 * arrivals / arrivals_per_second;
  for (Action& action : *test.mutable_actions()) {
    if (!action.iterations().has_max_duration_us()) continue;
    action.mutable_iterations()->set_max_duration_us(
        static_cast<int64_t>(std::ceil(
            std::clamp(duration_us, kLeastSimulatedUs, kMostSimulatedUs))));
  }
}

}  // namespace

absl::StatusOr<std::string> SimulatedTraces(DistributedSystemDescription test,
                                            uint64_t seed) {
  for (RpcSpec& rpc : *test.mutable_rpc_descriptions()) {
    rpc.set_tracing_interval(1);
  }
  test.set_measure_time_parts(true);
  test.set_random_seed(seed);
  engine::VirtualTimeOptions options;
  options.max_turns = kMaxTurns;
  options.sample_memory_bytes = kSampleMemoryBytes;
  engine::VirtualTimeSystem system(test, options);
  if (!system.Run(std::numeric_limits<int64_t>::max() / 2)) {
    return absl::InternalError("the imported config does not end");
  }
  report::SourcedResults results;
  TestResult& result = *results.results.add_test_results();
  *result.mutable_traffic_config() = std::move(test);
  *result.mutable_service_logs() = system.Finish();
  std::string traces;
  const absl::Status status = report::RenderOtlp(
      report::ListRuns(absl::MakeSpan(&results, 1)),
      [&](absl::string_view bytes) { absl::StrAppend(&traces, bytes); });
  if (!status.ok()) return status;
  return traces;
}

absl::StatusOr<Fidelity> MeasureFidelity(const TrafficModel& model,
                                         const ImportedConfig& config,
                                         DistributedSystemDescription test) {
  SetDuration(model, config.arrivals_per_second, test);
  const absl::StatusOr<std::string> traces =
      SimulatedTraces(std::move(test), kSeed);
  if (!traces.ok()) return traces.status();
  SpanSet spans;
  const absl::Status status =
      ReadSpans("otlp", "the simulation", *traces,
                std::numeric_limits<int64_t>::max(), spans);
  if (!status.ok()) return status;
  // A service of the config has the most frequent operations, and one that
  // stands for the others; none of these is one of too many.
  InferenceOptions options = model.options;
  options.max_operations = std::numeric_limits<size_t>::max();
  const TrafficModel simulation =
      InferTraffic(BuildTraces(std::move(spans)), options);
  const std::map<std::string, const RpcModel*> simulated = ByName(simulation);

  Fidelity fidelity;
  fidelity.traced_arrivals_per_second = ArrivalRate(model);
  fidelity.simulated_arrivals_per_second = ArrivalRate(simulation).value_or(0);
  fidelity.arrivals = {static_cast<double>(ArrivalCount(model)),
                       static_cast<double>(ArrivalCount(simulation))};
  fidelity.calls_per_trace = {Mean(model.sizes), Mean(simulation.sizes)};
  fidelity.size_distance =
      DistanceIfEnough(Sorted(model.sizes), Sorted(simulation.sizes));
  fidelity.depth_distance =
      DistanceIfEnough(Sorted(model.depths), Sorted(simulation.depths));
  for (size_t i = 0; i < model.rpcs.size(); ++i) {
    static const auto* const kNever = new RpcModel();
    const auto found = simulated.find(config.rpc_names[i]);
    fidelity.rpcs.push_back(
        CompareRpc(model, model.rpcs[i], simulation,
                   found == simulated.end() ? *kNever : *found->second));
    fidelity.rpcs.back().rpc = config.rpc_names[i];
  }
  std::stable_sort(fidelity.rpcs.begin(), fidelity.rpcs.end(),
                   [](const RpcFidelity& a, const RpcFidelity& b) {
                     return a.latency_distance.value_or(-1) >
                            b.latency_distance.value_or(-1);
                   });
  return fidelity;
}

double Mean(const std::vector<int64_t>& values) {
  double sum = 0;
  for (const int64_t value : values) sum += static_cast<double>(value);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double Quantile(const std::vector<int64_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<size_t>(
      std::ceil(share * static_cast<double>(sorted.size())));
  return static_cast<double>(sorted[std::max<size_t>(1, rank) - 1]);
}

// The area between the quantile functions is that between the cumulative
// probabilities, which is summed here from each value to the next.
double RelativeDistance(const std::vector<int64_t>& sorted,
                        const std::vector<int64_t>& other) {
  const double mean = Mean(sorted);
  if (mean == 0) return other.back() == 0 ? 0 : 1;
  double area = 0;
  size_t i = 0;
  size_t j = 0;
  int64_t last = std::min(sorted[0], other[0]);
  while (i < sorted.size() || j < other.size()) {
    const bool is_of_first =
        j == other.size() || (i < sorted.size() && sorted[i] <= other[j]);
    const int64_t value = is_of_first ? sorted[i] : other[j];
    const double below =
        static_cast<double>(i) / static_cast<double>(sorted.size());
    const double below_other =
        static_cast<double>(j) / static_cast<double>(other.size());
    area += std::abs(below - below_other) * static_cast<double>(value - last);
    last = value;
    ++(is_of_first ? i : j);
  }
  return area / mean;
}

}  // namespace distbench::trace_import
