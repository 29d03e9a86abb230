// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/live_feed.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/base/json.h"
#include "distbench/base/time_units.h"

namespace distbench::dashboard {
namespace {

using base::Json;

constexpr double kUsPerSecond = 1e6;

// The run whose test is being executed; null if there is none.
const RunDescription* RunningIn(const LiveStatus& status) {
  for (const RunDescription& run : status.runs) {
    if (run.state() == RunDescription::RUNNING) return &run;
  }
  return nullptr;
}

Json FactsOf(const NodeRegistration& node) {
  Json facts = Json::object();
  if (node.has_cpu_count()) facts["CPUs"] = node.cpu_count();
  if (node.topology().numa_nodes_size() > 0) {
    facts["NUMA nodes"] = node.topology().numa_nodes_size();
  }
  if (node.has_version()) facts["distbench"] = node.version();
  return facts;
}

Json NodeJson(const NodeStatus& status) {
  const NodeRegistration& node = status.registration();
  Json attributes = Json::object();
  for (const Attribute& attribute : node.attributes()) {
    attributes[attribute.name()] = attribute.value();
  }
  return {{"name", status.config().node_alias()},
          {"hostname", node.hostname()},
          {"state", status.busy() ? "busy" : "idle"},
          {"address", node.has_service_address() ? node.service_address()
                                                 : node.control_ip()},
          {"facts", FactsOf(node)},
          {"attributes", std::move(attributes)}};
}

Json RunJson(const RunDescription& run) {
  return {
      {"id", run.id()}, {"label", run.label()}, {"tests", run.test_names()}};
}

Json RunningJson(const RunDescription& run, const GetStatusResponse& status,
                 double per_second) {
  Json json = RunJson(run);
  json["test"] = status.running_test();
  json["test_index"] = run.current_test_index();
  json["state"] = status.has_running_time_us() ? "running" : "preparing";
  json["elapsed_seconds"] =
      static_cast<double>(status.running_time_us()) / kUsPerSecond;
  json["duration_seconds"] = nullptr;
  if (status.has_expected_duration_us()) {
    json["duration_seconds"] =
        static_cast<double>(status.expected_duration_us()) / kUsPerSecond;
  }
  json["succeeded"] = status.progress().succeeded_count();
  json["failed"] = status.progress().failed_count();
  json["per_second"] = per_second;
  return json;
}

std::string NodesJson(const LiveStatus& status) {
  Json json = Json::array();
  for (const NodeStatus& node : status.sequencer.nodes()) {
    json.push_back(NodeJson(node));
  }
  return base::DumpJson(json);
}

std::string RunsJson(const LiveStatus& status, double per_second) {
  Json json = {{"running", nullptr}, {"queue", Json::array()}};
  const RunDescription* running = RunningIn(status);
  if (running != nullptr) {
    json["running"] = RunningJson(*running, status.sequencer, per_second);
  }
  for (const RunDescription& run : status.runs) {
    if (run.state() == RunDescription::WAITING) {
      json["queue"].push_back(RunJson(run));
    }
  }
  return base::DumpJson(json);
}

}  // namespace

void LiveFeed::Rate::Update(const LiveStatus& status) {
  const RunDescription* run = RunningIn(status);
  if (run == nullptr) {
    *this = Rate();
    return;
  }
  std::string running = absl::StrCat(run->current_test_index(), " ", run->id());
  if (running != test) *this = Rate();
  test = std::move(running);
  const TrafficProgress& progress = status.sequencer.progress();
  const int64_t interval_ns = progress.traffic_time_ns() - traffic_time_ns;
  if (interval_ns <= 0) return;
  per_second = static_cast<double>(progress.succeeded_count() - succeeded) *
               base::kNsPerSecond / static_cast<double>(interval_ns);
  succeeded = progress.succeeded_count();
  traffic_time_ns = progress.traffic_time_ns();
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
  const LiveStatus status = source_.Look();
  rate_.Update(status);
  nodes_.Update(NodesJson(status));
  runs_.Update(RunsJson(status, rate_.per_second));
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
