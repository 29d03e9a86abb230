#include "distbench/products/dashboard/live_feed.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/base/json.h"
#include "distbench/base/time_units.h"

namespace distbench::dashboard {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

double LiveRate::Update(const LiveStatus& status) {
  const RunDescription* run = RunningIn(status);
  if (run == nullptr) {
    *this = LiveRate();
    return 0;
  }
  std::string test = absl::StrCat(run->current_test_index(), " ", run->id());
  if (test != test_) *this = LiveRate();
  test_ = std::move(test);
  const TrafficProgress& progress = status.sequencer.progress();
  const int64_t interval_ns = progress.traffic_time_ns() - traffic_time_ns_;
  if (interval_ns > 0) {
    per_second_ = static_cast<double>(progress.succeeded_count() - succeeded_) *
                  base::kNsPerSecond / static_cast<double>(interval_ns);
    succeeded_ = progress.succeeded_count();
    traffic_time_ns_ = progress.traffic_time_ns();
  }
  return per_second_;
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

std::string LiveJson(absl::string_view nodes, absl::string_view runs) {
  return absl::StrCat("{\"nodes\":", nodes, ",", absl::StripPrefix(runs, "{"));
}

namespace {

// How long a follower may take from its request to its place among followers.
constexpr absl::Duration kArrivalTime = absl::Seconds(10);

}  // namespace

LiveFeed::LiveFeed(const LiveSource& source, Options options)
    : source_(source), options_(options), thread_([this] { Run(); }) {}

LiveFeed::~LiveFeed() {
  {
    const absl::MutexLock lock(&mutex_);
    is_ended_ = true;
  }
  thread_.join();
}

std::string LiveFeed::Json() {
  const absl::MutexLock lock(&mutex_);
  Look();
  return LiveJson(nodes_.json, runs_.json);
}

void LiveFeed::BeginSending(EventSink& sink) {
  const absl::MutexLock lock(&mutex_);
  sink_ = &sink;
}

void LiveFeed::EndSending() {
  const absl::MutexLock lock(&mutex_);
  sink_ = nullptr;
}

void LiveFeed::OnFollower() {
  const absl::MutexLock lock(&mutex_);
  expected_until_ = Now() + kArrivalTime;
  Send();
}

bool LiveFeed::IsFollowed() const {
  return sink_ != nullptr &&
         (sink_->FollowerCount() > 0 || Now() < expected_until_);
}

absl::Time LiveFeed::Now() const {
  return absl::FromUnixNanos(options_.clock->MonotonicNs());
}

void LiveFeed::Run() {
  const absl::MutexLock lock(&mutex_);
  // Sleeps while there are no followers: one begins with OnFollower().
  const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return is_ended_ || IsFollowed();
  };
  while (true) {
    mutex_.Await(absl::Condition(&has_work));
    if (is_ended_) return;
    Send();
    if (Now() - sent_ >= options_.heartbeat) {
      sink_->SendHeartbeat();
      sent_ = Now();
    }
    mutex_.AwaitWithTimeout(absl::Condition(&is_ended_), options_.interval);
  }
}

void LiveFeed::Look() {
  const absl::Time now = Now();
  if (now - looked_ < options_.interval) return;
  looked_ = now;
  const LiveStatus status = source_.Look();
  nodes_.json = NodesJson(status);
  runs_.json = RunsJson(status, rate_.Update(status));
}

void LiveFeed::Send() {
  Look();
  if (sink_ == nullptr) return;
  for (Part* const part : {&nodes_, &runs_}) {
    if (part->json == part->sent_json) continue;
    sink_->SendState(part->name, absl::StrCat("event: ", part->name,
                                              "\ndata: ", part->json, "\n\n"));
    part->sent_json = part->json;
    sent_ = Now();
  }
}

}  // namespace distbench::dashboard
