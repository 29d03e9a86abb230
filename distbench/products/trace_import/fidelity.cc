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

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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

double Mean(const std::vector<int64_t>& values) {
  double sum = 0;
  for (const int64_t value : values) sum += static_cast<double>(value);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
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
  return RelativeDistance(Sorted(traces), Sorted(simulated));
}

TrafficFigures FiguresOf(const TrafficModel& model) {
  TrafficFigures figures = {.arrivals_per_second = 0};
  for (const ArrivalModel& arrival : model.arrivals) {
    figures.arrivals += static_cast<double>(arrival.count);
    std::optional<double>& rate = figures.arrivals_per_second;
    if (arrival.rate_per_second <= 0) rate.reset();
    if (rate) *rate += arrival.rate_per_second;
  }
  figures.calls_per_trace = Mean(model.sizes);
  return figures;
}

RpcFigures FiguresOf(const RpcModel& rpc, const TrafficFigures& all) {
  constexpr double kUsPerNs = 1e-3;
  const std::vector<int64_t> times_ns = Sorted(rpc.server_ns);
  const auto calls = static_cast<double>(rpc.calls);
  return {
      .calls_per_arrival = calls / std::max(1.0, all.arrivals),
      .failed_share = static_cast<double>(rpc.failures) / std::max(1.0, calls),
      .measured = static_cast<double>(times_ns.size()),
      .mean_us = kUsPerNs * Mean(times_ns),
      .p99_us = kUsPerNs * Quantile(times_ns, 0.99)};
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
  const double per_arrival =
      static_cast<double>(calls) / std::max(1.0, FiguresOf(model).arrivals);
  const double arrivals =
      std::min(kArrivals, kMaxCalls / std::max(1.0, per_arrival));
  const double duration_us = 1e6 * arrivals / arrivals_per_second;
  for (Action& action : *test.mutable_actions()) {
    if (!action.iterations().has_max_duration_us()) continue;
    action.mutable_iterations()->set_max_duration_us(
        static_cast<int64_t>(std::ceil(
            std::clamp(duration_us, kLeastSimulatedUs, kMostSimulatedUs))));
  }
}

// The traffic of the test on simulated time.
absl::StatusOr<TrafficModel> Simulate(DistributedSystemDescription test,
                                      InferenceOptions options) {
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
  options.max_operations = std::numeric_limits<size_t>::max();
  return InferTraffic(BuildTraces(std::move(spans)), options);
}

std::string DistanceText(const std::optional<double>& distance) {
  return distance ? absl::StrFormat("distance %.3f", *distance)
                  : "too few to compare";
}

// A figure of both sides of a Fidelity or of an RpcFidelity.

template <typename Sides, typename Figures>
std::string Both(const absl::FormatSpec<double, double>& format,
                 const Sides& sides, double Figures::*figure) {
  return absl::StrFormat(format, sides.simulated.*figure, sides.traces.*figure);
}

template <typename Sides, typename Figures>
base::Json Both(const Sides& sides, double Figures::*figure) {
  return {{"traces", sides.traces.*figure},
          {"simulated", sides.simulated.*figure}};
}

std::string RpcText(const RpcFidelity& rpc) {
  std::string text = absl::StrCat("  ", rpc.rpc, ": ");
  text += rpc.latency_distance
              ? absl::StrFormat("distance of latencies %.3f, ",
                                *rpc.latency_distance)
              : Both("too few calls to compare (%.0f, traces %.0f), ", rpc,
                     &RpcFigures::measured);
  text += Both("mean %.1f us, traces %.1f us; ", rpc, &RpcFigures::mean_us);
  if (rpc.latency_distance) {
    text += Both("p99 %.1f us, traces %.1f us; ", rpc, &RpcFigures::p99_us);
  }
  text += Both("calls per arrival %.3g, traces %.3g", rpc,
               &RpcFigures::calls_per_arrival);
  if (rpc.simulated.failed_share > 0 || rpc.traces.failed_share > 0) {
    absl::StrAppendFormat(&text, "; failed %.1f %%, traces %.1f %%",
                          100 * rpc.simulated.failed_share,
                          100 * rpc.traces.failed_share);
  }
  return text + "\n";
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
  const absl::StatusOr<TrafficModel> simulation =
      Simulate(std::move(test), model.options);
  if (!simulation.ok()) return simulation.status();
  Fidelity fidelity;
  fidelity.traces = FiguresOf(model);
  fidelity.simulated = FiguresOf(*simulation);
  fidelity.size_distance = DistanceIfEnough(model.sizes, simulation->sizes);
  fidelity.depth_distance = DistanceIfEnough(model.depths, simulation->depths);
  const std::map<std::string, const RpcModel*> by_name = ByName(*simulation);
  const RpcModel never;
  for (size_t i = 0; i < model.rpcs.size(); ++i) {
    const RpcModel& traced = model.rpcs[i];
    const auto found = by_name.find(config.rpc_names[i]);
    const RpcModel& simulated = found == by_name.end() ? never : *found->second;
    fidelity.rpcs.push_back(
        {.rpc = config.rpc_names[i],
         .traces = FiguresOf(traced, fidelity.traces),
         .simulated = FiguresOf(simulated, fidelity.simulated),
         .latency_distance =
             DistanceIfEnough(traced.server_ns, simulated.server_ns)});
  }
  absl::c_stable_sort(fidelity.rpcs, [](const RpcFidelity& a,
                                        const RpcFidelity& b) {
    return a.latency_distance.value_or(-1) > b.latency_distance.value_or(-1);
  });
  return fidelity;
}

std::string FidelityText(const Fidelity& fidelity) {
  const std::optional<double>& rate = fidelity.traces.arrivals_per_second;
  std::string text = absl::StrFormat(
      "On simulated time (distances: the difference of quantiles, on average, "
      "as a part of the mean of the traces):\n"
      "  arrivals: %.0f, %.6g/s; traces %.0f, %s\n"
      "%s; %s\n"
      "  levels per trace: %s\n",
      fidelity.simulated.arrivals,
      fidelity.simulated.arrivals_per_second.value_or(0),
      fidelity.traces.arrivals,
      rate ? absl::StrFormat("%.6g/s", *rate)
           : "which have no rate: that of the config is invented",
      Both("  calls per trace: %.3g, traces %.3g", fidelity,
           &TrafficFigures::calls_per_trace),
      DistanceText(fidelity.size_distance),
      DistanceText(fidelity.depth_distance));
  for (const RpcFidelity& rpc : fidelity.rpcs) text += RpcText(rpc);
  return text;
}

base::Json FidelityJson(const Fidelity& fidelity) {
  base::Json json = {
      {"arrivals", Both(fidelity, &TrafficFigures::arrivals)},
      {"arrivals_per_second",
       {{"traces", base::OrNull(fidelity.traces.arrivals_per_second)},
        {"simulated", fidelity.simulated.arrivals_per_second.value_or(0)}}},
      {"calls_per_trace", Both(fidelity, &TrafficFigures::calls_per_trace)},
      {"size_distance", base::OrNull(fidelity.size_distance)},
      {"depth_distance", base::OrNull(fidelity.depth_distance)},
      {"rpcs", base::Json::array()}};
  for (const RpcFidelity& rpc : fidelity.rpcs) {
    json["rpcs"].push_back(
        {{"rpc", rpc.rpc},
         {"latency_distance", base::OrNull(rpc.latency_distance)},
         {"measured", Both(rpc, &RpcFigures::measured)},
         {"mean_us", Both(rpc, &RpcFigures::mean_us)},
         {"p99_us", Both(rpc, &RpcFigures::p99_us)},
         {"calls_per_arrival", Both(rpc, &RpcFigures::calls_per_arrival)},
         {"failed_share", Both(rpc, &RpcFigures::failed_share)}});
  }
  return json;
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
