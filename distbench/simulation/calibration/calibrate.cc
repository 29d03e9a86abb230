#include "distbench/simulation/calibration/calibrate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/walk.h"
#include "distbench/simulation/calibration/phases.h"

namespace distbench {

namespace {

// Latencies above this many medians are stalls of the host, not variation.
constexpr double kStallMedians = 10;
constexpr double kShortestStallNs = 200e3;

// Sizes below are small; a large one must be this many times as large.
constexpr double kMinSizeRatio = 16;

constexpr double kMaxSigma = 0.5;

// The quantile that, with the median, tells the spread; stalls are beyond it.
constexpr double kSpreadQuantile = 0.9;
constexpr double kSpreadDeviations = 1.2816;  // of a normal distribution

constexpr double kPollingQuantile = 0.1;

struct Phases {
  const CalibrationPhase* small = nullptr;
  const CalibrationPhase* many = nullptr;
  const CalibrationPhase* large_request = nullptr;
  const CalibrationPhase* large_response = nullptr;
};

// Of one side, sending and receiving together.
struct SideCosts {
  Estimate batch_ns;
  Estimate fixed_ns;
};

double SquareRootOfSum(double a, double b) { return std::sqrt(a * a + b * b); }

bool IsLarge(double bytes, double small_bytes) {
  return bytes >= kMinSizeRatio * std::max(small_bytes, 1.0);
}

absl::StatusOr<Phases> Assign(const std::vector<CalibrationPhase>& all) {
  Phases phases;
  for (const CalibrationPhase& phase : all) {
    if (phase.in_flight != 1) continue;
    const auto bytes = [](const CalibrationPhase& of) {
      return of.request_bytes + of.response_bytes;
    };
    if (phases.small == nullptr || bytes(phase) < bytes(*phases.small)) {
      phases.small = &phase;
    }
  }
  if (phases.small != nullptr) {
    const CalibrationPhase& small = *phases.small;
    for (const CalibrationPhase& phase : all) {
      const bool has_large_request =
          IsLarge(phase.request_bytes, small.request_bytes);
      const bool has_large_response =
          IsLarge(phase.response_bytes, small.response_bytes);
      if (phase.in_flight > 1) {
        if (!has_large_request && !has_large_response) phases.many = &phase;
      } else if (has_large_request && !has_large_response) {
        phases.large_request = &phase;
      } else if (has_large_response && !has_large_request) {
        phases.large_response = &phase;
      }
    }
  }
  std::string missing;
  const auto note = [&](const CalibrationPhase* phase, absl::string_view what) {
    if (phase != nullptr) return;
    absl::StrAppend(&missing, missing.empty() ? "" : ", ", what);
  };
  note(phases.small, "small messages, one in flight");
  note(phases.many, "small messages, several in flight");
  note(phases.large_request, "large requests, one in flight");
  note(phases.large_response, "large responses, one in flight");
  if (missing.empty()) return phases;
  return absl::FailedPreconditionError(
      absl::StrCat("the test has no closed loop with ", missing,
                   "; run workloads/calibration.config on two nodes"));
}

// c1 = wake-up + batch + fixed, cn = s wake-ups + batch / n + fixed, where s
// are the sleeps per RPC, relative to one in flight.
SideCosts CostsOfSide(const Estimate& one, const Estimate& many, int in_flight,
                      double wakeup_ns, double sleeps) {
  const double n = in_flight;
  const double one_ns = one.value - wakeup_ns;
  const double many_ns = many.value - wakeup_ns * sleeps;
  SideCosts costs;
  costs.fixed_ns.value =
      std::clamp((n * many_ns - one_ns) / (n - 1), 0.0, one_ns);
  costs.fixed_ns.error = SquareRootOfSum(n * many.error, one.error) / (n - 1);
  costs.batch_ns.value = one_ns - costs.fixed_ns.value;
  costs.batch_ns.error = SquareRootOfSum(many.error, one.error) * n / (n - 1);
  return costs;
}

Estimate PerByte(const Estimate& large, double large_bytes,
                 const Estimate& small, double small_bytes) {
  const double bytes = large_bytes - small_bytes;
  return {std::max(0.0, (large.value - small.value) / bytes),
          SquareRootOfSum(large.error, small.error) / bytes};
}

// Half of the estimate, with the error of not knowing the share: that of a
// uniform distribution.
Estimate Half(const Estimate& whole) {
  return {whole.value / 2,
          SquareRootOfSum(whole.error / 2, whole.value / std::sqrt(12.0))};
}

// The costs are those without bytes.
StackCosts::Cost MakeCost(const SideCosts& side, const Estimate& ns_per_byte,
                          double bytes) {
  StackCosts::Cost cost;
  const Estimate fixed_ns = Half(side.fixed_ns);
  const Estimate batch_ns = Half(side.batch_ns);
  cost.set_fixed_ns(std::max(0.0, fixed_ns.value - ns_per_byte.value * bytes));
  cost.set_fixed_error_ns(fixed_ns.error);
  cost.set_batch_ns(batch_ns.value);
  cost.set_batch_error_ns(batch_ns.error);
  cost.set_ns_per_byte(ns_per_byte.value);
  cost.set_ns_per_byte_error(ns_per_byte.error);
  return cost;
}

double Quantile(const CalibrationPhase& phase, double quantile) {
  return static_cast<double>(phase.service_time_ns.ValueAtQuantile(quantile));
}

// Of a job, if those of an RPC vary independently of each other and cause all
// of the variation of its latency.
double SigmaOfJobs(const CalibrationPhase& small, double cpu_ns) {
  const double median_ns = Quantile(small, 0.5);
  const double deviation_ns =
      (Quantile(small, kSpreadQuantile) - median_ns) / kSpreadDeviations;
  const double job_ns = cpu_ns / 4;
  const double variation = deviation_ns / (2 * job_ns);  // of four such jobs
  return std::min(kMaxSigma, std::sqrt(std::log1p(variation * variation)));
}

void SetWakeups(const CalibrationPhase& small, double cpu_ns, bool is_same_host,
                StackCosts& costs, SimulatedFabric& fabric) {
  const double rest_ns = Quantile(small, 0.5) - cpu_ns;
  if (rest_ns < 0) {
    for (StackCosts::Cost* cost :
         {costs.mutable_client_send(), costs.mutable_server_send()}) {
      const double all_ns = cost->fixed_ns() + cost->batch_ns();
      cost->set_after_ns(std::min(-rest_ns / 2, 0.9 * all_ns));
    }
  }
  const double fastest_ns =
      static_cast<double>(small.service_time_ns.min()) - cpu_ns;
  const double network_ns =
      is_same_host ? 0 : std::clamp(fastest_ns, 0.0, std::max(0.0, rest_ns));
  costs.set_wakeup_ns(std::max(0.0, (rest_ns - network_ns) / 2));
  costs.set_wakeup_error_ns(
      SquareRootOfSum(small.client_cpu_ns.error, small.server_cpu_ns.error) /
      2);
  costs.set_same_host_delay_ns(0);
  if (is_same_host) return;
  // There and back, each time over two links.
  fabric.mutable_single_switch()->mutable_host_link()->set_delay_ns(
      std::max<int64_t>(1, std::llround(network_ns / 4)));
}

void SetStalls(const Phases& phases, SimulatedHost& host) {
  double count = 0;
  double excess_ns = 0;
  double seconds = 0;
  for (const CalibrationPhase* phase :
       {phases.small, phases.large_request, phases.large_response}) {
    const double median_ns = Quantile(*phase, 0.5);
    const double limit_ns =
        std::max(kShortestStallNs, kStallMedians * median_ns);
    seconds += phase->seconds;
    for (const auto& bucket : phase->service_time_ns.Buckets()) {
      if (static_cast<double>(bucket.lower) < limit_ns) continue;
      const double middle_ns = (static_cast<double>(bucket.lower) +
                                static_cast<double>(bucket.upper)) /
                               2;
      count += static_cast<double>(bucket.count);
      excess_ns += static_cast<double>(bucket.count) * (middle_ns - median_ns);
    }
  }
  // While a host stalls, no other stall begins.
  const double running_seconds = seconds - excess_ns / 1e9;
  if (count == 0 || running_seconds <= 0) return;
  host.set_stalls_per_second(count / running_seconds);
  host.set_mean_stall_ns(excess_ns / count);
}

const HostFacts& HostOf(const TestResult& result, const std::string& node) {
  return result.resource_usage_logs().node_resources().at(node).host();
}

std::string SourceOf(const TestResult& result, const CalibrationNodes& nodes) {
  const HostFacts& host = HostOf(result, nodes.server);
  const absl::Time when =
      absl::FromUnixNanos(result.run_info().start_timestamp_ns());
  return absl::StrFormat(
      "measured between %s by distbench %s on %s (%s, %d CPUs, kernel %s)",
      nodes.is_same_host ? "processes of one host" : "two hosts",
      result.run_info().version(),
      absl::FormatTime("%Y-%m-%d", when, absl::UTCTimeZone()), host.cpu_model(),
      host.cpu_count(), host.kernel());
}

const ProtocolDriverOptions& DriverOptionsOf(
    const DistributedSystemDescription& test) {
  for (const ProtocolDriverOptions& options : test.protocol_driver_options()) {
    if (options.name() == "default_protocol_driver_options") return options;
  }
  return ProtocolDriverOptions::default_instance();
}

std::string DriverOf(const TestResult& result) {
  const std::string& driver =
      DriverOptionsOf(result.traffic_config()).protocol_name();
  return driver.empty() ? "grpc" : driver;
}

bool HasPollingWorkers(const TestResult& result) {
  const auto& settings =
      DriverOptionsOf(result.traffic_config()).client_settings();
  return std::any_of(settings.begin(), settings.end(), [](const auto& setting) {
    return setting.name() == "spin_us" && setting.int64_value() > 0;
  });
}

// A latency of the RPCs of the test whose workers poll; 0 without one. Not the
// median: where other programs need a CPU, many RPCs wait for one.
double PollingLatencyNs(const TestSequenceResults& results,
                        const std::string& driver) {
  for (const TestResult& result : results.test_results()) {
    if (!HasPollingWorkers(result) || DriverOf(result) != driver) continue;
    RpcTotals totals;
    ForEachRpcLog(result, [&](const RpcLogView& view) {
      // Results that were read have valid statistics.
      (void)totals.Add(view.log.statistics());
    });
    if (totals.service_time_ns.count() == 0) continue;
    return static_cast<double>(
        totals.service_time_ns.ValueAtQuantile(kPollingQuantile));
  }
  return 0;
}

// CPU time of a wake-up, of a side: what one RPC in flight costs more than its
// latency between workers that poll.
double WakeupCpuNs(const CalibrationPhase& small, double polling_ns) {
  if (polling_ns == 0) return 0;
  const double client_ns = small.client_cpu_ns.value;
  const double server_ns = small.server_cpu_ns.value;
  return std::clamp((client_ns + server_ns - polling_ns) / 2, 0.0,
                    std::min(client_ns, server_ns));
}

double RelativeSleeps(const Estimate& one, const Estimate& many) {
  return one.value > 0 ? std::min(1.0, many.value / one.value) : 0;
}

absl::Status CalibrateDriver(const TestResult& result, double polling_ns,
                             SimulatedFabric& fabric) {
  auto nodes = NodesOfCalibration(result);
  if (!nodes.ok()) return nodes.status();
  auto all = PhasesOfCalibration(result, *nodes);
  if (!all.ok()) return all.status();
  auto phases = Assign(*all);
  if (!phases.ok()) return phases.status();
  const CalibrationPhase& small = *phases->small;
  const CalibrationPhase& many = *phases->many;
  const double wakeup_cpu_ns = WakeupCpuNs(small, polling_ns);
  const SideCosts client = CostsOfSide(
      small.client_cpu_ns, many.client_cpu_ns, many.in_flight, wakeup_cpu_ns,
      RelativeSleeps(small.client_sleeps, many.client_sleeps));
  const SideCosts server = CostsOfSide(
      small.server_cpu_ns, many.server_cpu_ns, many.in_flight, wakeup_cpu_ns,
      RelativeSleeps(small.server_sleeps, many.server_sleeps));
  const auto per_request_byte = [&](Estimate CalibrationPhase::*cpu_ns) {
    const CalibrationPhase& large = *phases->large_request;
    return PerByte(large.*cpu_ns, large.request_bytes, small.*cpu_ns,
                   small.request_bytes);
  };
  const auto per_response_byte = [&](Estimate CalibrationPhase::*cpu_ns) {
    const CalibrationPhase& large = *phases->large_response;
    return PerByte(large.*cpu_ns, large.response_bytes, small.*cpu_ns,
                   small.response_bytes);
  };

  StackCosts& costs = *fabric.add_stacks();
  costs.set_driver(DriverOf(result));
  *costs.mutable_client_send() =
      MakeCost(client, per_request_byte(&CalibrationPhase::client_cpu_ns),
               small.request_bytes);
  *costs.mutable_server_receive() =
      MakeCost(server, per_request_byte(&CalibrationPhase::server_cpu_ns),
               small.request_bytes);
  *costs.mutable_server_send() =
      MakeCost(server, per_response_byte(&CalibrationPhase::server_cpu_ns),
               small.response_bytes);
  *costs.mutable_client_receive() =
      MakeCost(client, per_response_byte(&CalibrationPhase::client_cpu_ns),
               small.response_bytes);
  const double cpu_ns = small.client_cpu_ns.value + small.server_cpu_ns.value;
  costs.set_sigma(SigmaOfJobs(small, cpu_ns));
  SetWakeups(small, cpu_ns, nodes->is_same_host, costs, fabric);
  costs.set_wakeup_cpu_ns(wakeup_cpu_ns);
  costs.set_wakeup_cpu_error_ns(costs.wakeup_error_ns());
  costs.set_source(SourceOf(result, *nodes));

  SimulatedHost& host = *fabric.mutable_host();
  host.Clear();
  host.set_cpus(HostOf(result, nodes->server).cpu_count());
  // Linux runs threads that work for less than its time slices (milliseconds)
  // one after the other.
  host.set_scheduler(SimulatedHost::FIFO);
  SetStalls(*phases, host);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SimulatedFabric> Calibrate(const TestSequenceResults& results) {
  if (results.test_results().empty()) {
    return absl::FailedPreconditionError(
        "the result has no tests; run workloads/calibration.config on two "
        "nodes");
  }
  SimulatedFabric fabric;
  for (const TestResult& result : results.test_results()) {
    if (HasPollingWorkers(result)) continue;
    const double polling_ns = PollingLatencyNs(results, DriverOf(result));
    if (absl::Status status = CalibrateDriver(result, polling_ns, fabric);
        !status.ok()) {
      return absl::Status(
          status.code(), absl::StrCat("test \"", result.traffic_config().name(),
                                      "\": ", status.message()));
    }
  }
  return fabric;
}

void AddCalibration(const SimulatedFabric& calibration,
                    SimulatedFabric& fabric) {
  SimulatedFabric merged = calibration;
  merged.clear_stacks();
  merged.MergeFrom(fabric);  // what the fabric says wins
  for (const StackCosts& costs : calibration.stacks()) {
    const bool is_given =
        std::any_of(fabric.stacks().begin(), fabric.stacks().end(),
                    [&](const StackCosts& other) {
                      return other.driver() == costs.driver();
                    });
    if (!is_given) *merged.add_stacks() = costs;
  }
  fabric = std::move(merged);
}

}  // namespace distbench
