// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/calibration/calibrate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "distbench/products/simulation/model/costs.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/results/result_file.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/run_failure.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/run_interval.h"

namespace distbench::simulation {

namespace {

// A mean with its standard error, which is 0 if it is not known.
struct Estimate {
  double value = 0;
  double error = 0;
};

enum Side { kClient, kServer, kSides };

// RPCs of one kind, with what they cost in the seconds in which only they ran.
struct Phase {
  int in_flight = 0;         // 0: there was no such phase
  double request_bytes = 0;  // per RPC
  double response_bytes = 0;
  double seconds = 0;
  Estimate cpu_ns[kSides];     // per RPC
  double sleeps[kSides] = {};  // of threads, per RPC
  stats::LogHistogram service_time_ns;
};

// A test, and what it has measured.
struct Measured {
  const TestResult* result = nullptr;
  std::string driver;
  bool polls = false;     // the workers, instead of sleeping
  double polling_ns = 0;  // the latency then; the rest is of other tests
  std::string aliases[kSides];  // of the nodes
  const NodeResources* nodes[kSides] = {};
  bool is_same_host = false;
  Phase small;  // one in flight, as all but the next
  Phase many;   // small ones
  Phase large_request;
  Phase large_response;
};

// ---- What the test was ------------------------------------------------------

// `what` is put together as by absl::StrCat().
template <typename... Parts>
absl::Status Lacks(const Parts&... what) {
  return absl::FailedPreconditionError(
      absl::StrCat(what..., "; run workloads/calibration.config on two nodes"));
}

absl::Status FindDriver(Measured& measured) {
  const DistributedSystemDescription& test = measured.result->traffic_config();
  int polling = 0;
  for (const ServiceSpec& service : test.services()) {
    UsedDriver used = UsedDriverOf(test, service);
    measured.driver = std::move(used.name);
    if (measured.driver.empty()) {
      return Lacks("the test's driver is not known to this distbench");
    }
    // A negative one leaves it to the host.
    if (used.spin_us < 0) {
      return Lacks("the test does not have the setting spin_us: 0");
    }
    polling += used.spin_us > 0;
  }
  measured.polls = polling > 0;
  if (measured.polls && polling < test.services_size()) {
    return Lacks(
        "workers of one side poll, and those of the other do not (spin_us)");
  }
  return absl::OkStatus();
}

absl::Status CheckTest(const TestResult& result) {
  const DistributedSystemDescription& test = result.traffic_config();
  if (result.has_simulation()) {
    return Lacks("the result is of a simulation, which measures no costs");
  }
  if (const auto failure = results::FailureOf(result)) {
    return Lacks("the test failed: ", *failure);
  }
  if (test.rpc_descriptions().empty()) return Lacks("the test has no RPCs");
  if (test.workers_per_instance() != 1) {
    return Lacks("the test does not have workers_per_instance: 1");
  }
  if (!test.activity_configs().empty()) {
    return Lacks("the test has activities, which use CPU time, too");
  }
  const auto& services = test.services();
  if (services.size() != 2 || services[0].count() != 1 ||
      services[1].count() != 1) {
    return Lacks("the test has more than one client and one server");
  }
  const RpcSpec& first = test.rpc_descriptions(0);
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    if (rpc.client_size() == 1 && rpc.client(0) == first.client(0) &&
        rpc.server() == first.server()) {
      continue;
    }
    return Lacks("the test's RPCs do not all have the same client and server");
  }
  return absl::OkStatus();
}

// Requires CheckTest().
absl::Status FindNodes(Measured& measured) {
  const TestResult& result = *measured.result;
  const RpcSpec& rpc = result.traffic_config().rpc_descriptions(0);
  const std::string instances[] = {absl::StrCat(rpc.client(0), "/0"),
                                   absl::StrCat(rpc.server(), "/0")};
  const auto& endpoints = result.placement().service_endpoints();
  const auto& resources = result.resource_usage_logs().node_resources();
  for (const Side side : {kClient, kServer}) {
    const auto endpoint = endpoints.find(instances[side]);
    if (endpoint == endpoints.end()) {
      return Lacks("the result does not say where ", instances[side], " ran");
    }
    measured.aliases[side] = endpoint->second.node_alias();
    const auto node = resources.find(measured.aliases[side]);
    if (node == resources.end()) {
      return Lacks("the result has no CPU time of its nodes");
    }
    measured.nodes[side] = &node->second;
  }
  measured.is_same_host = measured.nodes[kClient]->host().hostname() ==
                          measured.nodes[kServer]->host().hostname();
  if (measured.nodes[kClient] != measured.nodes[kServer]) {
    return absl::OkStatus();
  }
  return Lacks("client and server shared node ", measured.aliases[kClient],
               ", so that their CPU time is not told apart");
}

// The number in flight of the closed loop that sends the RPC; 0: there is none.
int InFlight(const DistributedSystemDescription& test,
             absl::string_view rpc_name) {
  for (const Action& action : test.actions()) {
    if (action.rpc_name() != rpc_name) continue;
    return config::IsOpenLoop(action)
               ? 0
               : static_cast<int>(
                     action.iterations().max_parallel_iterations());
  }
  return 0;
}

// ---- CPU time of RPCs that ran alone ----------------------------------------

constexpr int kNoRpc = -1;
constexpr int kMixed = -2;
constexpr int kMinWindows = 2;

// What ran in an interval of the series: kMixed if not only RPCs of one kind,
// all of which succeeded and were counted.
struct Interval {
  int rpc_index = kNoRpc;
  int64_t count = 0;
};

// The test's RPCs over time, by the sequencer's clock.
struct Timeline {
  int64_t interval_ns = 0;
  int64_t offset_ns = 0;  // the client's clock minus the sequencer's
  std::map<int64_t, Interval> intervals;
};

absl::StatusOr<Timeline> MakeTimeline(const Measured& measured) {
  const TestResult& result = *measured.result;
  Timeline timeline;
  const auto& offsets = result.run_info().clock_offsets();
  if (auto it = offsets.find(measured.aliases[kClient]); it != offsets.end()) {
    timeline.offset_ns = it->second.offset_ns();
  }
  std::map<int64_t, Interval> all;
  const int rpcs = result.traffic_config().rpc_descriptions_size();
  for (int rpc = 0; rpc < rpcs; ++rpc) {
    const report::RpcSeries series = report::CollectSeries(result, rpc);
    if (series.intervals.empty()) continue;
    if (timeline.interval_ns == 0) timeline.interval_ns = series.interval_ns;
    if (timeline.interval_ns != series.interval_ns) {
      return Lacks("the result's RPCs have series of different intervals");
    }
    for (const auto& [index, totals] : series.intervals) {
      const bool is_pure = all[index].rpc_index == kNoRpc &&
                           totals.failed == 0 && totals.warmup == 0;
      all[index] = {is_pure ? rpc : kMixed, totals.succeeded};
    }
  }
  if (all.empty()) return Lacks("the result has no RPCs over time");
  // Where the traffic begins or ends, RPCs took only a part of the time, and
  // set-up or the writing of results the rest.
  for (const auto& entry : all) {
    if (all.contains(entry.first - 1) && all.contains(entry.first + 1)) {
      timeline.intervals.insert(entry);
    }
  }
  return timeline;
}

// How many RPCs ended during the sample; 0 unless only this RPC ran in all the
// intervals that the sample touches.
double RpcsDuring(const ResourceSample& sample, const Timeline& timeline,
                  int rpc_index) {
  const int64_t end_ns = sample.end_timestamp_ns() + timeline.offset_ns;
  const int64_t begin_ns = end_ns - sample.duration_ns();
  const int64_t width_ns = timeline.interval_ns;
  double count = 0;
  for (int64_t index = begin_ns / width_ns; index * width_ns < end_ns;
       ++index) {
    const auto it = timeline.intervals.find(index);
    if (it == timeline.intervals.end() || it->second.rpc_index != rpc_index) {
      return 0;
    }
    const int64_t overlap_ns = std::min(end_ns, (index + 1) * width_ns) -
                               std::max(begin_ns, index * width_ns);
    count += static_cast<double>(it->second.count) *
             static_cast<double>(overlap_ns) / static_cast<double>(width_ns);
  }
  return count;
}

Estimate MeanOf(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  return {stats::Mean(values), std::sqrt(stats::Variance(values) / count)};
}

// Of a side: CPU time and sleeps per RPC.
absl::Status MeasureSide(const Measured& measured, const Timeline& timeline,
                         int rpc_index, Side side, Phase& phase) {
  std::vector<double> cpu_ns;
  std::vector<double> sleeps;
  for (const ResourceSample& sample : measured.nodes[side]->samples()) {
    const double count = RpcsDuring(sample, timeline, rpc_index);
    // Negative in damaged results.
    if (count < 1 || sample.process_cpu_ns() < 0 ||
        sample.voluntary_context_switches() < 0) {
      continue;
    }
    cpu_ns.push_back(static_cast<double>(sample.process_cpu_ns()) / count);
    sleeps.push_back(static_cast<double>(sample.voluntary_context_switches()) /
                     count);
  }
  if (cpu_ns.size() < kMinWindows) {
    return Lacks("RPC \"", results::RpcName(*measured.result, rpc_index),
                 "\" ran alone for ", cpu_ns.size(),
                 " samples of the CPU time of ", measured.aliases[side],
                 ", and at least ", kMinWindows,
                 " are needed: 4 seconds, without warm-up");
  }
  phase.cpu_ns[side] = MeanOf(cpu_ns);
  phase.sleeps[side] = stats::Mean(sleeps);
  return absl::OkStatus();
}

absl::StatusOr<results::RpcTotals> TotalsOf(const TestResult& result,
                                            int rpc_index) {
  results::RpcTotals totals;
  absl::Status status;
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    if (view.rpc_index != rpc_index) return;
    status.Update(totals.Add(view.log.statistics()));
  });
  if (!status.ok()) return status;
  if (totals.service_time_ns.count() == 0 ||
      totals.counts.succeeded_count == 0) {
    return Lacks("RPC \"", results::RpcName(result, rpc_index),
                 "\" has no latencies in the result");
  }
  return totals;
}

absl::StatusOr<Phase> MeasurePhase(const Measured& measured,
                                   const Timeline& timeline, int rpc_index,
                                   int in_flight) {
  const auto totals = TotalsOf(*measured.result, rpc_index);
  if (!totals.ok()) return totals.status();
  const auto count = static_cast<double>(totals->counts.succeeded_count);
  Phase phase;
  phase.in_flight = in_flight;
  phase.request_bytes =
      static_cast<double>(totals->counts.request_bytes) / count;
  phase.response_bytes =
      static_cast<double>(totals->counts.response_bytes) / count;
  phase.seconds = static_cast<double>(totals->counts.duration_ns()) / 1e9;
  phase.service_time_ns = totals->service_time_ns;
  for (const Side side : {kClient, kServer}) {
    const absl::Status status =
        MeasureSide(measured, timeline, rpc_index, side, phase);
    if (!status.ok()) return status;
  }
  return phase;
}

// ---- Phases by what they are for --------------------------------------------

// Sizes below are small; a large one must be this many times as large.
constexpr double kMinSizeRatio = 16;

bool IsLarge(double bytes, double small_bytes) {
  return bytes >= kMinSizeRatio * std::max(small_bytes, 1.0);
}

absl::Status AssignPhases(const std::vector<Phase>& all, Measured& measured) {
  const auto bytes = [](const Phase& phase) {
    return phase.request_bytes + phase.response_bytes;
  };
  Phase& small = measured.small;
  for (const Phase& phase : all) {
    if (phase.in_flight != 1) continue;
    if (small.in_flight == 0 || bytes(phase) < bytes(small)) small = phase;
  }
  for (const Phase& phase : all) {
    const bool has_large_request =
        IsLarge(phase.request_bytes, small.request_bytes);
    const bool has_large_response =
        IsLarge(phase.response_bytes, small.response_bytes);
    if (phase.in_flight > 1) {
      if (!has_large_request && !has_large_response) measured.many = phase;
    } else if (has_large_request && !has_large_response) {
      measured.large_request = phase;
    } else if (has_large_response && !has_large_request) {
      measured.large_response = phase;
    }
  }
  std::vector<absl::string_view> missing;
  const auto note = [&](const Phase& phase, absl::string_view what) {
    if (phase.in_flight == 0) missing.push_back(what);
  };
  note(small, "small messages, one in flight");
  note(measured.many, "small messages, several in flight");
  note(measured.large_request, "large requests, one in flight");
  note(measured.large_response, "large responses, one in flight");
  if (missing.empty()) return absl::OkStatus();
  return Lacks("the test has no closed loop with ",
               absl::StrJoin(missing, ", "));
}

// A low latency of workers that poll. Not the median: where other programs need
// a CPU, many RPCs wait for one.
constexpr double kPollingQuantile = 0.1;

absl::Status MeasurePolling(Measured& measured) {
  const DistributedSystemDescription& test = measured.result->traffic_config();
  if (test.rpc_descriptions_size() != 1 || test.actions_size() != 1 ||
      test.actions(0).iterations().max_parallel_iterations() != 1) {
    return Lacks(
        "workers poll (spin_us) in a test that is not one closed loop of one "
        "RPC at a time");
  }
  const auto totals = TotalsOf(*measured.result, 0);
  if (!totals.ok()) return totals.status();
  measured.polling_ns = static_cast<double>(
      totals->service_time_ns.ValueAtQuantile(kPollingQuantile));
  return absl::OkStatus();
}

// Of a test whose driver is known.
absl::Status Measure(Measured& measured) {
  const TestResult& result = *measured.result;
  absl::Status status = CheckTest(result);
  if (status.ok()) status = FindNodes(measured);
  if (!status.ok()) return status;
  if (measured.polls) return MeasurePolling(measured);
  const auto timeline = MakeTimeline(measured);
  if (!timeline.ok()) return timeline.status();
  std::vector<Phase> phases;
  const DistributedSystemDescription& test = result.traffic_config();
  for (int rpc = 0; rpc < test.rpc_descriptions_size(); ++rpc) {
    const int in_flight = InFlight(test, test.rpc_descriptions(rpc).name());
    if (in_flight == 0) continue;
    auto phase = MeasurePhase(measured, *timeline, rpc, in_flight);
    if (!phase.ok()) return phase.status();
    phases.push_back(*std::move(phase));
  }
  return AssignPhases(phases, measured);
}

// ---- From measurements to costs ---------------------------------------------

double Quantile(const Phase& phase, double quantile) {
  return static_cast<double>(phase.service_time_ns.ValueAtQuantile(quantile));
}

double CpuNs(const Phase& phase) {
  return phase.cpu_ns[kClient].value + phase.cpu_ns[kServer].value;
}

// How long messages are on their way between hosts, there and back, as far as
// these RPCs tell. 0 if they do not: within a host, or if CPU time hides it.
double NetworkNs(const Measured& measured) {
  if (measured.polls || measured.is_same_host) return 0;
  const Phase& small = measured.small;
  const double fastest_ns = static_cast<double>(small.service_time_ns.min());
  const double most_ns = std::max(0.0, Quantile(small, 0.5) - CpuNs(small));
  return std::clamp(fastest_ns - CpuNs(small), 0.0, most_ns);
}

// CPU time of a wake-up, of a side: what one RPC in flight costs more than its
// latency between workers that poll, without the network.
double WakeupCpuNs(const Phase& small, double polling_ns, double network_ns) {
  if (polling_ns == 0) return 0;
  return std::clamp(
      (CpuNs(small) - (polling_ns - network_ns)) / 2, 0.0,
      std::min(small.cpu_ns[kClient].value, small.cpu_ns[kServer].value));
}

// Half of the estimate, with the error of not knowing the share: that of a
// uniform distribution.
Estimate Half(const Estimate& whole) {
  return {whole.value / 2,
          std::hypot(whole.error / 2, whole.value / std::sqrt(12.0))};
}

// c1 = wake-up + batch + fixed, cn = s wake-ups + batch / n + fixed, where s
// are the sleeps per RPC, relative to one in flight. Of sending and receiving
// together; each gets half.
void SetBatchAndFixed(const Measured& measured, Side side, double wakeup_ns,
                      StackCosts::Cost& cost) {
  const Estimate& one = measured.small.cpu_ns[side];
  const Estimate& many = measured.many.cpu_ns[side];
  const double one_sleeps = measured.small.sleeps[side];
  const double sleeps =
      one_sleeps > 0 ? std::min(1.0, measured.many.sleeps[side] / one_sleeps)
                     : 0;
  const double n = measured.many.in_flight;
  const double one_ns = one.value - wakeup_ns;
  const double many_ns = many.value - wakeup_ns * sleeps;
  const double fixed_ns =
      std::clamp((n * many_ns - one_ns) / (n - 1), 0.0, one_ns);
  const Estimate fixed =
      Half({fixed_ns, std::hypot(n * many.error, one.error) / (n - 1)});
  const Estimate batch = Half(
      {one_ns - fixed_ns, std::hypot(many.error, one.error) * n / (n - 1)});
  cost.set_fixed_ns(fixed.value);
  cost.set_fixed_error_ns(fixed.error);
  cost.set_batch_ns(batch.value);
  cost.set_batch_error_ns(batch.error);
}

// By a phase with large messages of one direction, which `bytes` of a phase
// says. The fixed costs are those without bytes.
void SetPerByte(const Phase& large, const Phase& small, double Phase::*bytes,
                Side side, StackCosts::Cost& cost) {
  const double more_bytes = large.*bytes - small.*bytes;
  const double more_ns = large.cpu_ns[side].value - small.cpu_ns[side].value;
  cost.set_ns_per_byte(std::max(0.0, more_ns / more_bytes));
  cost.set_ns_per_byte_error(
      std::hypot(large.cpu_ns[side].error, small.cpu_ns[side].error) /
      more_bytes);
  cost.set_fixed_ns(
      std::max(0.0, cost.fixed_ns() - cost.ns_per_byte() * small.*bytes));
}

// The median latency, less the CPU time of both sides and the network, is the
// time of two wake-ups or, if it is negative, work after sending.
void SetWakeups(const Phase& small, double network_ns, StackCosts& costs) {
  const double rest_ns = Quantile(small, 0.5) - CpuNs(small) - network_ns;
  for (StackCosts::Cost* cost :
       {costs.mutable_client_send(), costs.mutable_server_send()}) {
    if (rest_ns >= 0) break;
    const double all_ns = cost->fixed_ns() + cost->batch_ns();
    cost->set_after_ns(std::min(-rest_ns / 2, 0.9 * all_ns));
  }
  costs.set_wakeup_ns(std::max(0.0, rest_ns / 2));
  costs.set_wakeup_error_ns(
      std::hypot(small.cpu_ns[kClient].error, small.cpu_ns[kServer].error) / 2);
  costs.set_same_host_delay_ns(0);
}

constexpr double kMaxSigma = 0.5;

// The quantile that, with the median, tells the spread; stalls are beyond it.
constexpr double kSpreadQuantile = 0.9;
constexpr double kSpreadDeviations = 1.2816;  // of a normal distribution

// Of a job, if those of an RPC, with a wake-up at each side, vary independently
// of each other and cause all of the variation of its latency.
double SigmaOfJobs(const Phase& small, const StackCosts& costs) {
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

std::string SourceOf(const Measured& measured) {
  const RunInfo& run = measured.result->run_info();
  const HostFacts& host = measured.nodes[kServer]->host();
  const absl::Time when = absl::FromUnixNanos(run.start_timestamp_ns());
  return absl::StrFormat(
      "measured between %s by distbench %s on %s (%s, %d CPUs, kernel %s)",
      measured.is_same_host ? "processes of one host" : "two hosts",
      run.version(), absl::FormatTime("%Y-%m-%d", when, absl::UTCTimeZone()),
      host.cpu_model(), host.cpu_count(), host.kernel());
}

StackCosts CostsOf(const Measured& measured, double polling_ns,
                   double network_ns) {
  const Phase& small = measured.small;
  StackCosts costs;
  costs.set_driver(measured.driver);
  costs.set_wakeup_cpu_ns(WakeupCpuNs(small, polling_ns, network_ns));
  const auto set = [&](Side side, const Phase& large, double Phase::*bytes,
                       StackCosts::Cost& cost) {
    SetBatchAndFixed(measured, side, costs.wakeup_cpu_ns(), cost);
    SetPerByte(large, small, bytes, side, cost);
  };
  set(kClient, measured.large_request, &Phase::request_bytes,
      *costs.mutable_client_send());
  set(kServer, measured.large_request, &Phase::request_bytes,
      *costs.mutable_server_receive());
  set(kServer, measured.large_response, &Phase::response_bytes,
      *costs.mutable_server_send());
  set(kClient, measured.large_response, &Phase::response_bytes,
      *costs.mutable_client_receive());
  SetWakeups(small, network_ns, costs);
  costs.set_wakeup_cpu_error_ns(costs.wakeup_error_ns());
  costs.set_sigma(SigmaOfJobs(small, costs));
  costs.set_source(SourceOf(measured));
  return costs;
}

// Latencies above this many medians are stalls of the host, not variation.
constexpr double kStallMedians = 10;
constexpr double kShortestStallNs = 200e3;

void SetStalls(const Measured& measured, SimulatedHost& host) {
  double count = 0;
  double excess_ns = 0;
  double seconds = 0;
  for (const Phase* phase :
       {&measured.small, &measured.large_request, &measured.large_response}) {
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
  // The stalls of each host that an RPC passes delay it.
  const int hosts = measured.is_same_host ? 1 : 2;
  host.set_stalls_per_second(count / running_seconds / hosts);
  host.set_mean_stall_ns(excess_ns / count);
}

void AddMeasured(const Measured& measured, double polling_ns,
                 double between_hosts_ns, SimulatedFabric& fabric) {
  const double network_ns = measured.is_same_host ? 0 : between_hosts_ns;
  *fabric.add_stacks() = CostsOf(measured, polling_ns, network_ns);
  if (!measured.is_same_host) {
    // There and back, each time over two links.
    fabric.mutable_single_switch()->mutable_host_link()->set_delay_ns(
        std::max<int64_t>(1, std::llround(network_ns / 4)));
  }
  SimulatedHost& host = *fabric.mutable_host();
  host.Clear();
  host.set_cpus(measured.nodes[kServer]->host().cpu_count());
  // Linux runs threads that work for less than its time slices (milliseconds)
  // one after the other.
  host.set_scheduler(SimulatedHost::FIFO);
  SetStalls(measured, host);
}

bool HasCosts(const SimulatedFabric& fabric, const StackCosts& of) {
  return absl::c_any_of(fabric.stacks(), [&](const StackCosts& costs) {
    return costs.driver() == of.driver();
  });
}

bool HasCosts(const SimulatedFabric& fabric, const ActivityCosts& of) {
  return absl::c_any_of(fabric.activities(), [&](const ActivityCosts& costs) {
    return costs.activity() == of.activity() && costs.name() == of.name();
  });
}

absl::Status OfTest(const Measured& measured, const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrCat("test \"", measured.result->traffic_config().name(),
                   "\": ", status.message()));
}

}  // namespace

absl::StatusOr<SimulatedFabric> Calibrate(const TestSequenceResults& results) {
  std::vector<Measured> all;
  for (const TestResult& result : results.test_results()) {
    Measured& measured = all.emplace_back();
    measured.result = &result;
    const absl::Status known = FindDriver(measured);
    if (!known.ok()) return OfTest(measured, known);
  }
  if (absl::c_all_of(all, [](const Measured& each) { return each.polls; })) {
    return Lacks("the result has no test whose workers sleep");
  }

  std::map<std::string, double> polling_ns;  // by driver
  // All drivers share one network. The shortest time counts, because a driver's
  // fastest RPC may contain waking up, which is the driver's own.
  double between_hosts_ns = 0;
  for (Measured& measured : all) {
    const absl::Status status = Measure(measured);
    if (!status.ok()) return OfTest(measured, status);
    if (measured.polls) {
      polling_ns.emplace(measured.driver, measured.polling_ns);
    }
    const double network_ns = NetworkNs(measured);
    if (network_ns == 0) continue;
    if (between_hosts_ns == 0 || network_ns < between_hosts_ns) {
      between_hosts_ns = network_ns;
    }
  }

  std::set<std::string> drivers;
  SimulatedFabric fabric;
  for (const Measured& measured : all) {
    if (measured.polls) continue;
    if (!drivers.insert(measured.driver).second) {
      return OfTest(measured,
                    Lacks("driver ", measured.driver,
                          " has costs from an earlier test of the result"));
    }
    AddMeasured(measured, polling_ns[measured.driver], between_hosts_ns,
                fabric);
  }
  return fabric;
}

void AddCalibration(const SimulatedFabric& calibration,
                    SimulatedFabric& fabric) {
  const SimulatedLink& measured = calibration.single_switch().host_link();
  const auto add_delay = [&](SimulatedLink& link) {
    if (!link.has_delay_ns()) link.set_delay_ns(measured.delay_ns());
  };
  if (measured.has_delay_ns() && fabric.has_leaf_spine()) {
    add_delay(*fabric.mutable_leaf_spine()->mutable_host_link());
  }
  if (measured.has_delay_ns() && fabric.has_graph()) {
    for (auto& each : *fabric.mutable_graph()->mutable_switches()) {
      add_delay(*each.mutable_host_link());
    }
  }
  SimulatedFabric merged = calibration;
  merged.clear_stacks();
  merged.clear_activities();
  merged.MergeFrom(fabric);  // what the fabric says wins
  for (const StackCosts& costs : calibration.stacks()) {
    if (!HasCosts(fabric, costs)) *merged.add_stacks() = costs;
  }
  for (const ActivityCosts& costs : calibration.activities()) {
    if (!HasCosts(fabric, costs)) *merged.add_activities() = costs;
  }
  fabric = std::move(merged);
}

absl::StatusOr<SimulatedFabric> ReadCalibration(const std::string& path) {
  const absl::StatusOr<TestSequenceResults> results =
      results::ReadResults(path);
  if (results.ok()) {
    absl::StatusOr<SimulatedFabric> fabric = Calibrate(*results);
    if (fabric.ok()) return fabric;
    return absl::Status(fabric.status().code(),
                        absl::StrCat(path, ": ", fabric.status().message()));
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
