// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/live_feed.h"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/base/json.h"
#include "distbench/base/time_units.h"

namespace distbench::dashboard {
namespace {

using base::Json;

constexpr double kUsPerSecond = 1e6;

Json NodeJson(const NodeStatus& status) {
  const NodeRegistration& node = status.registration();
  Json facts = Json::object();
  if (node.has_cpu_count()) facts["CPUs"] = node.cpu_count();
  if (node.topology().numa_nodes_size() > 0) {
    facts["NUMA nodes"] = node.topology().numa_nodes_size();
  }
  if (node.has_version()) facts["distbench"] = node.version();
  Json attributes = Json::object();
  for (const Attribute& attribute : node.attributes()) {
    attributes[attribute.name()] = attribute.value();
  }
  return {{"name", status.config().node_alias()},
          {"hostname", node.hostname()},
          {"state", status.busy() ? "busy" : "idle"},
          {"address", node.has_service_address() ? node.service_address()
                                                 : node.control_ip()},
          {"facts", std::move(facts)},
          {"attributes", std::move(attributes)}};
}

Json RunJson(const RunDescription& run) {
  return {
      {"id", run.id()}, {"label", run.label()}, {"tests", run.test_names()}};
}

// In seconds; null if it failed, or of none.
Json PercentileJson(const results::LatenciesWithFailures& latencies,
                    double quantile) {
  const std::optional<double> ns = latencies.Percentile(quantile);
  if (!ns || std::isinf(*ns)) return nullptr;
  return *ns / static_cast<double>(base::kNsPerSecond);
}

// What happened in an interval of traffic, of some RPCs.
Json FiguresJson(double succeeded_per_second, double failed_per_second,
                 const results::LatenciesWithFailures& latencies) {
  const double failed_share = latencies.failed_share;
  return {{"per_second", succeeded_per_second},
          {"failed_per_second", failed_per_second},
          {"failed_above_percent",
           base::OrNull(failed_share > 0, 100 * (1 - failed_share))},
          {"p50", PercentileJson(latencies, 0.5)},
          {"p99", PercentileJson(latencies, 0.99)}};
}

// Of all RPCs, and of each where they are told apart.
Json FiguresJson(const results::ProgressMeter& meter, int64_t end_ns) {
  Json json = FiguresJson(meter.PerSecond(&TrafficProgress::succeeded_count),
                          meter.PerSecond(&TrafficProgress::failed_count),
                          meter.latencies());
  json["latency"] = meter.has_response_times() ? "response" : "service";
  json["measured_seconds"] = base::ToSeconds(end_ns);
  json["rpcs"] = Json::object();
  for (const auto& [name, rpc] : meter.rpcs()) {
    json["rpcs"][name] = FiguresJson(rpc.succeeded_per_second,
                                     rpc.failed_per_second, rpc.latencies);
  }
  return json;
}

// The run whose test is being executed.
Json RunningJson(const RunDescription& run, const GetStatusResponse& status,
                 const Json& figures) {
  Json json = RunJson(run);
  json["test"] = status.running_test();
  json["test_index"] = run.current_test_index();
  json["state"] = status.has_running_time_us() ? "running" : "preparing";
  json["elapsed_seconds"] =
      static_cast<double>(status.running_time_us()) / kUsPerSecond;
  json["duration_seconds"] = base::OrNull(
      status.has_expected_duration_us(),
      static_cast<double>(status.expected_duration_us()) / kUsPerSecond);
  json["succeeded"] = status.progress().succeeded_count();
  json["failed"] = status.progress().failed_count();
  json.update(figures);
  return json;
}

}  // namespace

void LiveFeed::Figures::Update(const RunDescription& run,
                               const TrafficProgress& progress) {
  std::string running = absl::StrCat(run.current_test_index(), " ", run.id());
  if (running != test) {
    *this = {.test = std::move(running)};
    json = FiguresJson(meter, /*end_ns=*/0);
  }
  // The same report may be seen twice.
  if (progress.traffic_time_ns() <= end_ns) return;
  end_ns = progress.traffic_time_ns();
  meter.Add(progress);
  json = FiguresJson(meter, end_ns);
  meter.BeginInterval();
}

void LiveFeed::Part::Update(std::string new_json) {
  if (new_json == json) return;
  json = std::move(new_json);
  event = std::make_shared<const std::string>(
      absl::StrCat("event: ", name, "\ndata: ", json, "\n\n"));
}

void LiveFeed::Look() {
  const int64_t now_ns = clock_.MonotonicNs();
  if (now_ns < next_look_ns_) return;
  next_look_ns_ = now_ns + absl::ToInt64Nanoseconds(kInterval);
  const GetStatusResponse status = sequencer_.Status();
  auto nodes = base::Json::array();
  for (const NodeStatus& node : status.nodes()) nodes.push_back(NodeJson(node));
  nodes_.Update(base::DumpJson(nodes));

  base::Json runs = {{"running", nullptr}, {"queue", base::Json::array()}};
  for (const RunDescription& run : sequencer_.UnfinishedRuns()) {
    if (run.state() == RunDescription::WAITING) {
      runs["queue"].push_back(RunJson(run));
    } else if (run.state() == RunDescription::RUNNING) {
      figures_.Update(run, status.progress());
      runs["running"] = RunningJson(run, status, figures_.json);
    }
  }
  if (runs["running"].is_null()) figures_ = Figures();
  runs_.Update(base::DumpJson(runs));
}

std::string LiveFeed::Json() {
  const absl::MutexLock lock(&mutex_);
  Look();
  return absl::StrCat("{\"nodes\":", nodes_.json, ",",
                      absl::StripPrefix(runs_.json, "{"));
}

std::vector<HttpResponse::Event> LiveFeed::NewestEvents() {
  const absl::MutexLock lock(&mutex_);
  Look();
  return {nodes_.event, runs_.event};
}

}  // namespace distbench::dashboard
