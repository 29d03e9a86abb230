#include "distbench/products/simulation/calibration/phases.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/walk.h"

namespace distbench::simulation {

namespace {

constexpr int kNoRpc = -1;
constexpr int kMixed = -2;
constexpr int kMinWindows = 2;

// What ran in an interval of the series: kMixed if not only RPCs of one kind,
// all of which succeeded and were counted.
struct Activity {
  int rpc_index = kNoRpc;
  int64_t count = 0;
};

// The test's RPCs over time, by the sequencer's clock.
struct Timeline {
  int64_t interval_ns = 0;
  int64_t offset_ns = 0;  // the client's clock minus the sequencer's
  std::map<int64_t, Activity> activities;
};

absl::StatusOr<std::string> NodeOfInstance(const TestResult& result,
                                           const std::string& instance) {
  const auto& endpoints = result.placement().service_endpoints();
  const auto endpoint = endpoints.find(instance);
  if (endpoint == endpoints.end()) {
    return CalibrationLacks(
        absl::StrCat("the result does not say where ", instance, " ran"));
  }
  return endpoint->second.node_alias();
}

// Leaves out the intervals in which the traffic begins or ends: their RPCs took
// only a part of the time, and set-up or the writing of results the rest.
void LeaveOutEdges(std::map<int64_t, Activity>& activities) {
  const std::map<int64_t, Activity> all = activities;
  std::erase_if(activities, [&](const auto& entry) {
    return !all.contains(entry.first - 1) || !all.contains(entry.first + 1);
  });
}

absl::StatusOr<Timeline> MakeTimeline(const TestResult& result,
                                      const std::string& client_node) {
  Timeline timeline;
  const auto& offsets = result.run_info().clock_offsets();
  if (auto it = offsets.find(client_node); it != offsets.end()) {
    timeline.offset_ns = it->second.offset_ns();
  }
  for (int rpc = 0; rpc < result.traffic_config().rpc_descriptions_size();
       ++rpc) {
    const report::RpcSeries series = report::CollectSeries(result, rpc);
    if (series.intervals.empty()) continue;
    if (timeline.interval_ns == 0) timeline.interval_ns = series.interval_ns;
    if (timeline.interval_ns != series.interval_ns) {
      return CalibrationLacks(
          "the result's RPCs have series of different intervals");
    }
    for (const auto& [index, totals] : series.intervals) {
      Activity& activity = timeline.activities[index];
      const bool is_pure = activity.rpc_index == kNoRpc && totals.failed == 0 &&
                           totals.warmup == 0;
      activity = {is_pure ? rpc : kMixed, totals.succeeded};
    }
  }
  if (timeline.interval_ns == 0) {
    return CalibrationLacks("the result has no RPCs over time");
  }
  LeaveOutEdges(timeline.activities);
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
    const auto it = timeline.activities.find(index);
    if (it == timeline.activities.end() || it->second.rpc_index != rpc_index) {
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
  const double count = static_cast<double>(values.size());
  double sum = 0;
  for (double value : values) sum += value;
  const double mean = sum / count;
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (count - 1) / count)};
}

using SampleField = int64_t (ResourceSample::*)() const;

absl::StatusOr<Estimate> PerRpc(SampleField field, const TestResult& result,
                                const std::string& node,
                                const Timeline& timeline, int rpc_index) {
  const auto& resources = result.resource_usage_logs().node_resources();
  const auto it = resources.find(node);
  if (it == resources.end()) {
    return CalibrationLacks(
        absl::StrCat("the result has no CPU time of node ", node));
  }
  std::vector<double> values;
  for (const ResourceSample& sample : it->second.samples()) {
    const double count = RpcsDuring(sample, timeline, rpc_index);
    // Negative in damaged results.
    if (count < 1 || (sample.*field)() < 0) continue;
    values.push_back(static_cast<double>((sample.*field)()) / count);
  }
  if (values.size() < kMinWindows) {
    return CalibrationLacks(absl::StrCat(
        "RPC \"", results::RpcName(result, rpc_index), "\" ran alone for ",
        values.size(), " samples of the CPU time of ", node, ", and at least ",
        kMinWindows, " are needed: 4 seconds, without warm-up"));
  }
  return MeanOf(values);
}

// The number in flight of the closed loop that sends the RPC; 0: there is none.
int InFlight(const DistributedSystemDescription& test,
             absl::string_view rpc_name) {
  for (const Action& action : test.actions()) {
    if (action.rpc_name() != rpc_name) continue;
    const Iterations& loop = action.iterations();
    const bool is_open = loop.has_open_loop_interval_ns() || loop.has_rate() ||
                         loop.has_arrivals();
    return is_open ? 0 : static_cast<int>(loop.max_parallel_iterations());
  }
  return 0;
}

absl::Status AddStatistics(const TestResult& result, int rpc_index,
                           CalibrationPhase& phase) {
  results::RpcTotals totals;
  absl::Status status;
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    if (view.rpc_index == rpc_index) {
      status.Update(totals.Add(view.log.statistics()));
    }
  });
  if (!status.ok()) return status;
  if (totals.service_time_ns.count() == 0 ||
      totals.counts.succeeded_count == 0) {
    return CalibrationLacks(absl::StrCat("RPC \"", phase.rpc_name,
                                         "\" has no latencies in the result"));
  }
  const auto count = static_cast<double>(totals.counts.succeeded_count);
  phase.request_bytes =
      static_cast<double>(totals.counts.request_bytes) / count;
  phase.response_bytes =
      static_cast<double>(totals.counts.response_bytes) / count;
  phase.seconds = static_cast<double>(totals.counts.duration_ns()) / 1e9;
  phase.service_time_ns = totals.service_time_ns;
  return absl::OkStatus();
}

}  // namespace

absl::Status CalibrationLacks(absl::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat(what, "; run workloads/calibration.config on two nodes"));
}

absl::StatusOr<CalibrationNodes> NodesOfCalibration(const TestResult& result) {
  if (result.has_simulation()) {
    return CalibrationLacks(
        "the result is of a simulation, which measures no costs");
  }
  if (result.run_info().has_failure()) {
    return CalibrationLacks(
        absl::StrCat("the test failed: ", result.run_info().failure()));
  }
  const DistributedSystemDescription& test = result.traffic_config();
  if (test.rpc_descriptions().empty())
    return CalibrationLacks("the test has no RPCs");
  if (test.workers_per_instance() != 1) {
    return CalibrationLacks("the test does not have workers_per_instance: 1");
  }
  for (const ServiceSpec& service : test.services()) {
    if (test.services_size() != 2 || service.count() != 1) {
      return CalibrationLacks(
          "the test has more than one client and one server");
    }
  }
  if (!test.activity_configs().empty()) {
    return CalibrationLacks("the test has activities, which use CPU time, too");
  }
  const RpcSpec& first = test.rpc_descriptions(0);
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    if (rpc.client_size() != 1 || rpc.client(0) != first.client(0) ||
        rpc.server() != first.server()) {
      return CalibrationLacks(
          "the test's RPCs do not all have the same client and server");
    }
  }
  auto client = NodeOfInstance(result, absl::StrCat(first.client(0), "/0"));
  if (!client.ok()) return client.status();
  auto server = NodeOfInstance(result, absl::StrCat(first.server(), "/0"));
  if (!server.ok()) return server.status();
  if (*client == *server) {
    return CalibrationLacks(
        absl::StrCat("client and server shared node ", *client,
                     ", so that their CPU time is not told apart"));
  }
  const auto& resources = result.resource_usage_logs().node_resources();
  const auto client_host = resources.find(*client);
  const auto server_host = resources.find(*server);
  if (client_host == resources.end() || server_host == resources.end()) {
    return CalibrationLacks("the result has no CPU time of its nodes");
  }
  return CalibrationNodes{*client, *server,
                          client_host->second.host().hostname() ==
                              server_host->second.host().hostname()};
}

absl::StatusOr<std::vector<CalibrationPhase>> PhasesOfCalibration(
    const TestResult& result, const CalibrationNodes& nodes) {
  auto timeline = MakeTimeline(result, nodes.client);
  if (!timeline.ok()) return timeline.status();
  std::vector<CalibrationPhase> phases;
  const DistributedSystemDescription& test = result.traffic_config();
  for (int rpc = 0; rpc < test.rpc_descriptions_size(); ++rpc) {
    CalibrationPhase phase;
    phase.rpc_name = test.rpc_descriptions(rpc).name();
    phase.in_flight = InFlight(test, phase.rpc_name);
    if (phase.in_flight == 0) continue;
    if (absl::Status status = AddStatistics(result, rpc, phase); !status.ok()) {
      return status;
    }
    absl::Status status;
    const auto per_rpc = [&](SampleField field, const std::string& node) {
      const auto found = PerRpc(field, result, node, *timeline, rpc);
      status.Update(found.status());
      return found.ok() ? *found : Estimate();
    };
    constexpr SampleField kCpu = &ResourceSample::process_cpu_ns;
    constexpr SampleField kSleeps = &ResourceSample::voluntary_context_switches;
    phase.client_cpu_ns = per_rpc(kCpu, nodes.client);
    phase.server_cpu_ns = per_rpc(kCpu, nodes.server);
    phase.client_sleeps = per_rpc(kSleeps, nodes.client);
    phase.server_sleeps = per_rpc(kSleeps, nodes.server);
    if (!status.ok()) return status;
    phases.push_back(std::move(phase));
  }
  return phases;
}

}  // namespace distbench::simulation
