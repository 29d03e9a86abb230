#include "distbench/products/simulation/calibration/calibrate.h"

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
#include "distbench/products/simulation/calibration/phases.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "distbench/products/simulation/model/used_driver.h"
#include "distbench/results/result_file.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/walk.h"

namespace distbench::simulation {

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
  return CalibrationLacks(
      absl::StrCat("the test has no closed loop with ", missing));
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

// Of a job, if those of an RPC, with a wake-up at each side, vary independently
// of each other and cause all of the variation of its latency.
double SigmaOfJobs(const CalibrationPhase& small, const StackCosts& costs) {
  double squares = 2 * costs.wakeup_cpu_ns() * costs.wakeup_cpu_ns();
  for (const StackCosts::Cost* cost :
       {&costs.client_send(), &costs.server_receive(), &costs.server_send(),
        &costs.client_receive()}) {
    const double job_ns = cost->fixed_ns() + cost->batch_ns();
    squares += job_ns * job_ns;
  }
  if (squares == 0) return 0;
  const double deviation_ns =
      (Quantile(small, kSpreadQuantile) - Quantile(small, 0.5)) /
      kSpreadDeviations;
  return std::min(kMaxSigma,
                  std::sqrt(std::log1p(deviation_ns * deviation_ns / squares)));
}

double CpuNs(const CalibrationPhase& phase) {
  return phase.client_cpu_ns.value + phase.server_cpu_ns.value;
}

// How long messages are on their way between hosts, there and back, as far as
// these RPCs tell.
double NetworkNs(const CalibrationPhase& small) {
  const double fastest_ns = static_cast<double>(small.service_time_ns.min());
  const double most_ns = std::max(0.0, Quantile(small, 0.5) - CpuNs(small));
  return std::clamp(fastest_ns - CpuNs(small), 0.0, most_ns);
}

void SetWakeups(const CalibrationPhase& small, double network_ns,
                StackCosts& costs) {
  const double rest_ns = Quantile(small, 0.5) - CpuNs(small) - network_ns;
  if (rest_ns < 0) {
    for (StackCosts::Cost* cost :
         {costs.mutable_client_send(), costs.mutable_server_send()}) {
      const double all_ns = cost->fixed_ns() + cost->batch_ns();
      cost->set_after_ns(std::min(-rest_ns / 2, 0.9 * all_ns));
    }
  }
  costs.set_wakeup_ns(std::max(0.0, rest_ns / 2));
  costs.set_wakeup_error_ns(
      SquareRootOfSum(small.client_cpu_ns.error, small.server_cpu_ns.error) /
      2);
  costs.set_same_host_delay_ns(0);
}

// hosts: which of them an RPC passes, so that the stalls of each delay it.
void SetStalls(const Phases& phases, int hosts, SimulatedHost& host) {
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
  host.set_stalls_per_second(count / running_seconds / hosts);
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

struct DriverOfTest {
  std::string name;
  bool polls = false;
};

absl::StatusOr<DriverOfTest> DriverOf(const TestResult& result) {
  DriverOfTest driver;
  int polling = 0;
  const DistributedSystemDescription& test = result.traffic_config();
  for (const ServiceSpec& service : test.services()) {
    UsedDriver used = UsedDriverOf(test, service);
    driver.name = std::move(used.name);
    if (driver.name.empty()) {
      return CalibrationLacks(
          "the test's driver is not known to this distbench");
    }
    // A negative one leaves it to the host.
    if (used.spin_us < 0) {
      return CalibrationLacks("the test does not have the setting spin_us: 0");
    }
    polling += used.spin_us > 0;
  }
  driver.polls = polling > 0;
  if (driver.polls && polling < test.services_size()) {
    return CalibrationLacks(
        "workers of one side poll, and those of the other "
        "do not (spin_us)");
  }
  return driver;
}

// A latency of the RPCs of the test whose workers poll; 0 without one. Not the
// median: where other programs need a CPU, many RPCs wait for one.
absl::StatusOr<double> PollingLatencyNs(const TestSequenceResults& results,
                                        const std::string& driver) {
  for (const TestResult& result : results.test_results()) {
    const auto used = DriverOf(result);
    if (!used.ok() || !used->polls || used->name != driver) continue;
    if (auto nodes = NodesOfCalibration(result); !nodes.ok()) {
      return nodes.status();
    }
    const DistributedSystemDescription& test = result.traffic_config();
    if (test.rpc_descriptions_size() != 1 || test.actions_size() != 1 ||
        test.actions(0).iterations().max_parallel_iterations() != 1) {
      return CalibrationLacks(
          "workers poll (spin_us) in a test that is not one closed loop of one "
          "RPC at a time");
    }
    results::RpcTotals totals;
    results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
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
// latency between workers that poll, without the network.
double WakeupCpuNs(const CalibrationPhase& small, double polling_ns,
                   double network_ns) {
  if (polling_ns == 0) return 0;
  const double client_ns = small.client_cpu_ns.value;
  const double server_ns = small.server_cpu_ns.value;
  return std::clamp((client_ns + server_ns - (polling_ns - network_ns)) / 2,
                    0.0, std::min(client_ns, server_ns));
}

double RelativeSleeps(const Estimate& one, const Estimate& many) {
  return one.value > 0 ? std::min(1.0, many.value / one.value) : 0;
}

bool HasCosts(const SimulatedFabric& fabric, const std::string& driver) {
  return std::any_of(
      fabric.stacks().begin(), fabric.stacks().end(),
      [&](const StackCosts& costs) { return costs.driver() == driver; });
}

bool HasCosts(const SimulatedFabric& fabric, const ActivityCosts& of) {
  return std::any_of(fabric.activities().begin(), fabric.activities().end(),
                     [&](const ActivityCosts& costs) {
                       return costs.activity() == of.activity() &&
                              costs.name() == of.name();
                     });
}

// 0 if the test does not tell: it was within a host, its CPU time hides the
// network, or it lacks something, which CalibrateDriver() will say.
double NetworkNs(const TestResult& result) {
  const auto driver = DriverOf(result);
  if (!driver.ok() || driver->polls) return 0;
  const auto nodes = NodesOfCalibration(result);
  if (!nodes.ok() || nodes->is_same_host) return 0;
  const auto all = PhasesOfCalibration(result, *nodes);
  if (!all.ok()) return 0;
  const auto phases = Assign(*all);
  return phases.ok() ? NetworkNs(*phases->small) : 0;
}

// All drivers share one network. The shortest time counts, because a driver's
// fastest RPC may contain waking up, which is the driver's own.
double NetworkNs(const TestSequenceResults& results) {
  double shortest_ns = 0;
  for (const TestResult& result : results.test_results()) {
    const double network_ns = NetworkNs(result);
    if (network_ns == 0) continue;
    if (shortest_ns == 0 || network_ns < shortest_ns) shortest_ns = network_ns;
  }
  return shortest_ns;
}

// between_hosts_ns: NetworkNs() of all results.
absl::Status CalibrateDriver(const TestResult& result,
                             const std::string& driver,
                             const TestSequenceResults& results,
                             double between_hosts_ns, SimulatedFabric& fabric) {
  const auto polling_ns = PollingLatencyNs(results, driver);
  if (!polling_ns.ok()) return polling_ns.status();
  auto nodes = NodesOfCalibration(result);
  if (!nodes.ok()) return nodes.status();
  auto all = PhasesOfCalibration(result, *nodes);
  if (!all.ok()) return all.status();
  auto phases = Assign(*all);
  if (!phases.ok()) return phases.status();
  const CalibrationPhase& small = *phases->small;
  const CalibrationPhase& many = *phases->many;
  const double network_ns = nodes->is_same_host ? 0 : between_hosts_ns;
  const double wakeup_cpu_ns = WakeupCpuNs(small, *polling_ns, network_ns);
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
  costs.set_driver(driver);
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
  SetWakeups(small, network_ns, costs);
  costs.set_wakeup_cpu_ns(wakeup_cpu_ns);
  costs.set_wakeup_cpu_error_ns(costs.wakeup_error_ns());
  costs.set_sigma(SigmaOfJobs(small, costs));
  costs.set_source(SourceOf(result, *nodes));
  if (!nodes->is_same_host) {
    // There and back, each time over two links.
    fabric.mutable_single_switch()->mutable_host_link()->set_delay_ns(
        std::max<int64_t>(1, std::llround(network_ns / 4)));
  }

  SimulatedHost& host = *fabric.mutable_host();
  host.Clear();
  host.set_cpus(HostOf(result, nodes->server).cpu_count());
  // Linux runs threads that work for less than its time slices (milliseconds)
  // one after the other.
  host.set_scheduler(SimulatedHost::FIFO);
  SetStalls(*phases, nodes->is_same_host ? 1 : 2, host);
  return absl::OkStatus();
}

void AddDelay(const SimulatedLink& measured, SimulatedLink& link) {
  if (!link.has_delay_ns()) link.set_delay_ns(measured.delay_ns());
}

// To the links of hosts, of all networks that are not a single switch.
void AddDelay(const SimulatedLink& measured, SimulatedFabric& fabric) {
  if (!measured.has_delay_ns()) return;
  if (fabric.has_leaf_spine()) {
    AddDelay(measured, *fabric.mutable_leaf_spine()->mutable_host_link());
  }
  if (fabric.has_graph()) {
    for (auto& each : *fabric.mutable_graph()->mutable_switches()) {
      AddDelay(measured, *each.mutable_host_link());
    }
  }
}

}  // namespace

absl::StatusOr<SimulatedFabric> Calibrate(const TestSequenceResults& results) {
  SimulatedFabric fabric;
  const double network_ns = NetworkNs(results);
  for (const TestResult& result : results.test_results()) {
    const auto driver = DriverOf(result);
    absl::Status status = driver.status();
    if (status.ok() && !driver->polls) {
      status = HasCosts(fabric, driver->name)
                   ? CalibrationLacks(absl::StrCat(
                         "driver ", driver->name,
                         " has costs from an earlier test of the result"))
                   : CalibrateDriver(result, driver->name, results, network_ns,
                                     fabric);
    }
    if (status.ok()) continue;
    return absl::Status(status.code(),
                        absl::StrCat("test \"", result.traffic_config().name(),
                                     "\": ", status.message()));
  }
  if (!fabric.stacks().empty()) return fabric;
  return CalibrationLacks("the result has no test whose workers sleep");
}

void AddCalibration(const SimulatedFabric& calibration,
                    SimulatedFabric& fabric) {
  AddDelay(calibration.single_switch().host_link(), fabric);
  SimulatedFabric merged = calibration;
  merged.clear_stacks();
  merged.clear_activities();
  merged.MergeFrom(fabric);  // what the fabric says wins
  for (const StackCosts& costs : calibration.stacks()) {
    if (!HasCosts(fabric, costs.driver())) *merged.add_stacks() = costs;
  }
  for (const ActivityCosts& costs : calibration.activities()) {
    if (!HasCosts(fabric, costs)) *merged.add_activities() = costs;
  }
  fabric = std::move(merged);
}

absl::StatusOr<SimulatedFabric> ReadCalibration(const std::string& path) {
  const auto at_path = [&](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat(path, ": ", status.message()));
  };
  const absl::StatusOr<TestSequenceResults> results =
      results::ReadResults(path);
  if (results.ok()) {
    absl::StatusOr<SimulatedFabric> fabric = Calibrate(*results);
    return fabric.ok() ? std::move(fabric) : at_path(fabric.status());
  }
  // Results and fabrics have no field in common.
  absl::StatusOr<SimulatedFabric> fabric = ReadFabric(path);
  if (!fabric.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is neither a result (", results.status().message(),
        ") nor a fabric (", fabric.status().message(), ")"));
  }
  if (fabric->stacks().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": has no costs of any driver (stacks); give the result of "
        "workloads/calibration.config, or a file kept from one"));
  }
  return fabric;
}

}  // namespace distbench::simulation
