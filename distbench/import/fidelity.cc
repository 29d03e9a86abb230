#include "distbench/import/fidelity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/engine/simulation/simulated_system.h"
#include "distbench/import/spans/read_spans.h"
#include "distbench/import/traces/call_tree.h"
#include "distbench/report/export/otlp.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench {
namespace {

constexpr uint64_t kSeed = 1;

// Enough for a distance of some hundredths.
constexpr double kMaxArrivals = 3000;
// Of traces with many calls, there are fewer.
constexpr double kMaxCalls = 100'000;
constexpr int64_t kLeastSimulatedUs = 1000;
// A simulation that needs more than this gets nowhere.
constexpr int64_t kMaxTurns = 50'000'000;
constexpr int64_t kSampleMemoryBytes = int64_t{1} << 30;

double ArrivalRate(const TrafficModel& model) {
  double rate = 0;
  for (const ArrivalModel& arrival : model.arrivals) {
    rate += arrival.rate_per_second;
  }
  return rate;
}

double Mean(const std::vector<int64_t>& values) {
  double sum = 0;
  for (const int64_t value : values) sum += static_cast<double>(value);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// The smallest value that at least this share of all do not exceed.
double Quantile(const std::vector<int64_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<size_t>(
      std::ceil(share * static_cast<double>(sorted.size())));
  return static_cast<double>(sorted[std::max<size_t>(1, rank) - 1]);
}

// Of two sorted samples. 1 if one is empty and the other is not.
double Distance(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  if (a.empty() || b.empty()) return a.empty() == b.empty() ? 0 : 1;
  double distance = 0;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const int64_t value = std::min(a[i], b[j]);
    while (i < a.size() && a[i] == value) ++i;
    while (j < b.size() && b[j] == value) ++j;
    distance = std::max(
        distance,
        std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                 static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return distance;
}

std::vector<int64_t> Sorted(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
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
  fidelity.mean_us = {kUsPerNs * Mean(a), kUsPerNs * Mean(b)};
  fidelity.p99_us = {kUsPerNs * Quantile(a, 0.99),
                     kUsPerNs * Quantile(b, 0.99)};
  fidelity.latency_distance = Distance(a, b);
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

// Leaves as much of the test as is worth simulating.
void Shorten(const TrafficModel& model, DistributedSystemDescription& test) {
  int64_t calls = 0;
  for (const RpcModel& rpc : model.rpcs) calls += rpc.calls;
  const double arrivals = std::min(
      kMaxArrivals, kMaxCalls / std::max(1.0, PerArrival(model, calls)));
  double rate = 0;
  for (const Action& action : test.actions()) {
    rate += MeanRatePerSecond(action.iterations());
  }
  const double most_us = rate > 0 ? 1e6 * arrivals / rate : kLeastSimulatedUs;
  for (Action& action : *test.mutable_actions()) {
    if (!action.iterations().has_max_duration_us()) continue;
    Iterations& iterations = *action.mutable_iterations();
    iterations.set_max_duration_us(std::max<int64_t>(
        kLeastSimulatedUs,
        static_cast<int64_t>(std::min(
            most_us, static_cast<double>(iterations.max_duration_us())))));
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
  SimulationOptions options;
  options.max_turns = kMaxTurns;
  options.sample_memory_bytes = kSampleMemoryBytes;
  SimulatedSystem system(test, options);
  if (!system.Run(std::numeric_limits<int64_t>::max() / 2)) {
    return absl::InternalError("the imported config does not end");
  }
  SourcedResults results;
  TestResult& result = *results.results.add_test_results();
  *result.mutable_traffic_config() = std::move(test);
  *result.mutable_service_logs() = system.Finish();
  std::string traces;
  const absl::Status status = RenderOtlp(
      ListRuns(absl::MakeSpan(&results, 1)),
      [&](absl::string_view bytes) { absl::StrAppend(&traces, bytes); });
  if (!status.ok()) return status;
  return traces;
}

absl::StatusOr<Fidelity> MeasureFidelity(
    const TrafficModel& model, const ConfigNames& names,
    const DistributedSystemDescription& test) {
  DistributedSystemDescription shortened = test;
  Shorten(model, shortened);
  absl::StatusOr<std::string> traces = SimulatedTraces(shortened, kSeed);
  if (!traces.ok()) return traces.status();
  SpanSet spans;
  const absl::Status status =
      ReadSpans("otlp", "the simulation", *traces,
                std::numeric_limits<int64_t>::max(), spans);
  if (!status.ok()) return status;
  const TrafficModel simulation = InferTraffic(BuildTraces(std::move(spans)));
  const std::map<std::string, const RpcModel*> simulated = ByName(simulation);

  Fidelity fidelity;
  fidelity.arrivals_per_second = {ArrivalRate(model), ArrivalRate(simulation)};
  fidelity.calls_per_trace = {Mean(model.sizes), Mean(simulation.sizes)};
  fidelity.size_distance =
      Distance(Sorted(model.sizes), Sorted(simulation.sizes));
  fidelity.depth_distance =
      Distance(Sorted(model.depths), Sorted(simulation.depths));
  for (size_t i = 0; i < model.rpcs.size(); ++i) {
    static const auto* const kNever = new RpcModel();
    const auto found = simulated.find(names.Rpc(static_cast<int>(i)));
    fidelity.rpcs.push_back(
        CompareRpc(model, model.rpcs[i], simulation,
                   found == simulated.end() ? *kNever : *found->second));
    fidelity.rpcs.back().rpc = names.Rpc(static_cast<int>(i));
  }
  std::stable_sort(fidelity.rpcs.begin(), fidelity.rpcs.end(),
                   [](const RpcFidelity& a, const RpcFidelity& b) {
                     return a.latency_distance > b.latency_distance;
                   });
  return fidelity;
}

}  // namespace distbench
