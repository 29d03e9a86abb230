// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/export/traces.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/host_port.h"
#include "distbench/base/json.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/version.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

using HopPath = std::vector<int64_t>;

// All numbers of the leading hops of a trace. A context whose fields differ in
// length is damaged; missing numbers count as 0.
HopPath PathOf(const TraceContext& context) {
  HopPath path;
  const auto at = [](const auto& field, int hop) -> int64_t {
    return hop < field.size() ? field[hop] : 0;
  };
  for (int hop = 0; hop < context.engine_ids_size(); ++hop) {
    path.insert(path.end(),
                {context.engine_ids(hop), at(context.actionlist_indices(), hop),
                 at(context.actionlist_invocations(), hop),
                 at(context.action_indices(), hop),
                 at(context.action_iterations(), hop),
                 at(context.fanout_index(), hop)});
  }
  return path;
}

constexpr int kNumbersPerHop = 6;

// The path of the RPC that caused this one.
HopPath ParentOf(HopPath path) {
  path.resize(path.size() - kNumbersPerHop);
  return path;
}

using RpcsByPath = std::map<HopPath, TracedRpc>;

void AddSamples(const results::RpcLogView& view,
                const google::protobuf::RepeatedPtrField<RpcSample>& samples,
                bool failed, RpcsByPath& rpcs) {
  for (const RpcSample& sample : samples) {
    if (sample.trace_context().engine_ids_size() == 0) continue;
    TracedRpc rpc;
    rpc.sample = &sample;
    rpc.client = &view.client;
    rpc.server = &view.server;
    rpc.rpc_name = view.rpc_name;
    if (failed)
      rpc.error = results::ErrorMessage(view.errors, sample.error_index());
    rpcs.emplace(PathOf(sample.trace_context()), std::move(rpc));
  }
}

// Gives every RPC the first free lane below its parent's. Works depth first, to
// keep related RPCs together.
class LaneAllocator {
 public:
  explicit LaneAllocator(TraceTree& tree) : tree_(tree) {}

  void Allocate(int position) {
    TracedRpc& rpc = tree_[position];
    rpc.lane = rpc.parent < 0 ? 0 : tree_[rpc.parent].lane + 1;
    while (rpc.lane < static_cast<int>(busy_.size()) &&
           Overlaps(busy_[rpc.lane], rpc)) {
      ++rpc.lane;
    }
    if (rpc.lane >= static_cast<int>(busy_.size())) {
      busy_.resize(rpc.lane + 1);
    }
    busy_[rpc.lane].push_back(position);
    for (const int child : rpc.children) Allocate(child);
  }

 private:
  bool Overlaps(const std::vector<int>& others, const TracedRpc& rpc) const {
    return std::any_of(others.begin(), others.end(), [&](int other) {
      return tree_[other].start_ns() < rpc.end_ns() &&
             rpc.start_ns() < tree_[other].end_ns();
    });
  }

  TraceTree& tree_;
  std::vector<std::vector<int>> busy_;  // by lane
};

void Arrange(TraceTree& tree) {
  for (TracedRpc& rpc : tree) {
    std::sort(rpc.children.begin(), rpc.children.end(), [&](int a, int b) {
      return tree[a].start_ns() < tree[b].start_ns();
    });
  }
  LaneAllocator(tree).Allocate(0);
}

// The location of an RPC: its tree, and the position in it.
struct Place {
  size_t tree;
  int position;
};

Place Insert(TracedRpc rpc, const Place* parent,
             std::vector<TraceTree>& trees) {
  if (parent == nullptr) trees.emplace_back();
  const size_t tree_index = parent == nullptr ? trees.size() - 1 : parent->tree;
  TraceTree& tree = trees[tree_index];
  const int position = static_cast<int>(tree.size());
  if (parent != nullptr) {
    rpc.parent = parent->position;
    tree[parent->position].children.push_back(position);
  }
  tree.push_back(std::move(rpc));
  return {tree_index, position};
}

}  // namespace

std::vector<TraceTree> CollectTraces(const TestResult& result) {
  RpcsByPath rpcs;
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    AddSamples(view, view.log.successful_rpc_samples(), false, rpcs);
    AddSamples(view, view.log.failed_rpc_samples(), true, rpcs);
  });
  // In order of paths, a parent comes before its children.
  std::vector<TraceTree> trees;
  std::map<HopPath, Place> places;
  for (auto& [path, rpc] : rpcs) {
    const auto parent = places.find(ParentOf(path));
    places[path] =
        Insert(std::move(rpc),
               parent == places.end() ? nullptr : &parent->second, trees);
  }
  for (TraceTree& tree : trees) Arrange(tree);
  std::stable_sort(trees.begin(), trees.end(),
                   [](const TraceTree& a, const TraceTree& b) {
                     return a.front().start_ns() < b.front().start_ns();
                   });
  return trees;
}

absl::Status NoTracesError() {
  return absl::InvalidArgumentError(
      "no RPC of the result was traced: give an RPC of the test a "
      "tracing_interval, such as 1000 for every 1000th iteration");
}

namespace {

using Json = nlohmann::ordered_json;

class EventWriter {
 public:
  // Times are relative to origin_ns.
  EventWriter(int64_t origin_ns, const std::string& hosts, ByteSink sink)
      : origin_ns_(origin_ns), sink_(sink) {
    sink_("{\"displayTimeUnit\":\"ns\",\"otherData\":");
    // As text, because viewers read numbers as doubles, which are too coarse.
    sink_(base::DumpJson(
        {{"origin_unix_ns", absl::StrCat(origin_ns)}, {"hosts", hosts}}));
    sink_(",\"traceEvents\":[\n");
  }

  void End() { sink_("\n]}\n"); }

  void WriteTree(const std::string& test, const TraceTree& tree) {
    ++process_;
    WriteProcessName(test, tree.front());
    for (const TracedRpc& rpc : tree) {
      WriteRpc(rpc);
      if (rpc.parent >= 0) WriteArrow(tree[rpc.parent], rpc);
    }
  }

 private:
  double Microseconds(int64_t timestamp_ns) const {
    return static_cast<double>(
               base::SaturatingSubtract(timestamp_ns, origin_ns_)) /
           1000;
  }

  Json Event(const char* phase, const std::string& name, int lane) const {
    return {{"ph", phase}, {"name", name}, {"pid", process_}, {"tid", lane}};
  }

  void Write(const Json& event) {
    sink_(is_first_ ? "" : ",\n");
    is_first_ = false;
    sink_(base::DumpJson(event));
  }

  void WriteProcessName(const std::string& test, const TracedRpc& root) {
    Json event = Event("M", "process_name", 0);
    event["args"] = {{"name", absl::StrCat(test, ": ", root.rpc_name, " from ",
                                           *root.client)}};
    Write(event);
  }

  void WriteRpc(const TracedRpc& rpc) {
    Json event = Event("X", rpc.rpc_name, rpc.lane);
    event["cat"] = rpc.error.empty() ? "rpc" : "failed";
    event["ts"] = Microseconds(rpc.start_ns());
    event["dur"] = static_cast<double>(rpc.sample->latency_ns()) / 1000;
    Json& args = event["args"];
    args = {{"client", *rpc.client},
            {"server", *rpc.server},
            {"request_bytes", rpc.sample->request_size()},
            {"response_bytes", rpc.sample->response_size()}};
    if (rpc.sample->has_lateness_ns()) {
      args["lateness_us"] =
          static_cast<double>(rpc.sample->lateness_ns()) / 1000;
    }
    if (rpc.sample->warmup()) args["warmup"] = true;
    if (!rpc.error.empty()) args["error"] = rpc.error;
    Write(event);
  }

  void WriteArrow(const TracedRpc& from, const TracedRpc& to) {
    ++arrow_;
    Json start = Event("s", "leads to", from.lane);
    start["cat"] = "fanout";
    start["id"] = arrow_;
    // An arrow must begin within its RPC, but the hosts' clocks differ.
    start["ts"] = Microseconds(
        std::max(from.start_ns(), std::min(to.start_ns(), from.end_ns())));
    Write(start);
    Json end = Event("f", "leads to", to.lane);
    end["cat"] = "fanout";
    end["id"] = arrow_;
    end["ts"] = Microseconds(to.start_ns());
    end["bp"] = "e";
    Write(end);
  }

  const int64_t origin_ns_;
  const ByteSink sink_;
  bool is_first_ = true;
  int process_ = 0;
  int64_t arrow_ = 0;
};

}  // namespace

absl::Status RenderTraceEvents(absl::Span<const TestRun> runs, ByteSink sink) {
  std::vector<std::vector<TraceTree>> traces;
  int64_t origin_ns = std::numeric_limits<int64_t>::max();
  for (const TestRun& run : runs) {
    traces.push_back(CollectTraces(*run.result));
    if (!traces.back().empty()) {
      // Roots come first and are sorted by time, except for clock differences.
      origin_ns = std::min(origin_ns, traces.back().front().front().start_ns());
    }
  }
  if (origin_ns == std::numeric_limits<int64_t>::max()) {
    return NoTracesError();
  }
  EventWriter writer(origin_ns, OriginOf(runs), sink);
  for (size_t i = 0; i < traces.size(); ++i) {
    for (const TraceTree& tree : traces[i]) {
      writer.WriteTree(MarkedName(runs[i].name, *runs[i].result), tree);
    }
  }
  writer.End();
  return absl::OkStatus();
}

namespace {

// Values of OTLP's enums.
constexpr int kServerSpan = 2;
constexpr int kClientSpan = 3;
constexpr int kErrorStatus = 2;

Json Attribute(const std::string& key, Json value) {
  return {{"key", key}, {"value", std::move(value)}};
}
Json TextAttribute(const std::string& key, const std::string& text) {
  return Attribute(key, {{"stringValue", text}});
}
// Numbers of 64 bits are texts in OTLP.
Json NumberAttribute(const std::string& key, int64_t number) {
  return Attribute(key, {{"intValue", absl::StrCat(number)}});
}
Json FlagAttribute(const std::string& key) {
  return Attribute(key, {{"boolValue", true}});
}

// Of "leaf/0" or, if no instance answered, of "leaf[channel]".
std::string ServiceOf(const std::string& server) {
  return server.substr(0, server.find_first_of("/["));
}

// The names of the services' drivers, such as "grpc".
std::map<std::string, std::string> DriversOf(
    const DistributedSystemDescription& test) {
  std::map<std::string, std::string> drivers;
  const config::TestNames names(test);
  for (const ServiceSpec& service : test.services()) {
    const config::DriverStack stack = config::ResolveDriverStack(
        test, names, config::OptionsOf(names, service));
    if (stack.problem || stack.drivers.empty()) continue;
    const config::DriverDeclaration& driver = *stack.drivers.back().driver;
    drivers[service.name()] =
        driver.alias_of.empty() ? driver.name : driver.alias_of;
  }
  return drivers;
}

// The spans of one run.
class RunSpans {
 public:
  // number: the position of the run among all runs.
  RunSpans(const TestRun& run, int number)
      : run_(run),
        drivers_(DriversOf(run.result->traffic_config())),
        trace_id_prefix_(TracePrefix(run.result->run_info(), number)) {}

  void AddTree(const TraceTree& tree) {
    ++tree_number_;
    for (size_t i = 0; i < tree.size(); ++i) AddRpc(tree, i);
  }

  // As "resourceSpans".
  Json Take() {
    Json all = Json::array();
    for (auto& [instance, spans] : spans_) {
      Json scope = {{"scope",
                     {{"name", "distbench"},
                      {"version", std::string(base::ProgramVersion())}}},
                    {"spans", std::move(spans)}};
      all.push_back({{"resource", ResourceOf(instance)},
                     {"scopeSpans", Json::array({std::move(scope)})}});
    }
    return all;
  }

 private:
  // Differs between runs, whether of this file or of others.
  static uint64_t TracePrefix(const RunInfo& info, int number) {
    return static_cast<uint64_t>(info.start_timestamp_ns()) ^
           info.random_seed() ^ static_cast<uint64_t>(number);
  }

  // At least 1, because 0 is no id.
  std::string TraceId() const {
    return absl::StrFormat("%016x%016x", trace_id_prefix_, tree_number_);
  }
  std::string ClientSpanId(int position) const { return SpanId(position, 1); }
  std::string ServerSpanId(int position) const { return SpanId(position, 2); }
  std::string SpanId(int position, int side) const {
    return absl::StrFormat("%08x%08x", static_cast<uint32_t>(tree_number_),
                           2 * position + side);
  }

  static bool HasServerSpan(const TracedRpc& rpc) {
    return rpc.sample->has_server_handler_ns();
  }

  void AddRpc(const TraceTree& tree, int position) {
    const TracedRpc& rpc = tree[position];
    Json span = Span(rpc, kClientSpan, rpc.start_ns(), rpc.end_ns());
    span["spanId"] = ClientSpanId(position);
    if (rpc.parent >= 0) {
      span["parentSpanId"] = HasServerSpan(tree[rpc.parent])
                                 ? ServerSpanId(rpc.parent)
                                 : ClientSpanId(rpc.parent);
    }
    AddClientAttributes(rpc, span["attributes"]);
    spans_[*rpc.client].push_back(std::move(span));
    if (HasServerSpan(rpc)) AddServerSpan(rpc, position);
  }

  void AddServerSpan(const TracedRpc& rpc, int position) {
    const int64_t queue_ns = rpc.sample->server_queue_ns();
    const int64_t server_ns =
        base::SaturatingAdd(queue_ns, rpc.sample->server_handler_ns());
    const int64_t network_ns = std::max<int64_t>(
        0, base::SaturatingSubtract(rpc.sample->latency_ns(), server_ns));
    const int64_t start_ns =
        base::SaturatingAdd(rpc.start_ns(), network_ns / 2);
    Json span = Span(rpc, kServerSpan, start_ns,
                     base::SaturatingAdd(start_ns, server_ns));
    span["spanId"] = ServerSpanId(position);
    span["parentSpanId"] = ClientSpanId(position);
    Json& attributes = span["attributes"];
    attributes.push_back(
        NumberAttribute("distbench.server_queue_ns", queue_ns));
    attributes.push_back(FlagAttribute("distbench.start_is_estimated"));
    spans_[*rpc.server].push_back(std::move(span));
  }

  // A span without ids of its own, with the attributes that both sides have.
  Json Span(const TracedRpc& rpc, int kind, int64_t start_ns,
            int64_t end_ns) const {
    const std::string service = ServiceOf(*rpc.server);
    Json span = {{"traceId", TraceId()},
                 {"spanId", ""},
                 {"name", absl::StrCat(service, "/", rpc.rpc_name)},
                 {"kind", kind},
                 {"startTimeUnixNano", absl::StrCat(start_ns)},
                 {"endTimeUnixNano", absl::StrCat(end_ns)},
                 {"attributes", Json::array()}};
    Json& attributes = span["attributes"];
    const auto driver = drivers_.find(service);
    if (driver != drivers_.end()) {
      attributes.push_back(TextAttribute("rpc.system", driver->second));
    }
    attributes.push_back(TextAttribute("rpc.service", service));
    attributes.push_back(TextAttribute("rpc.method", rpc.rpc_name));
    if (!rpc.error.empty()) {
      span["status"] = {{"code", kErrorStatus}, {"message", rpc.error}};
    }
    return span;
  }

  void AddClientAttributes(const TracedRpc& rpc, Json& attributes) const {
    const RpcSample& sample = *rpc.sample;
    AddServerAddress(*rpc.server, attributes);
    attributes.push_back(TextAttribute("peer.service", ServiceOf(*rpc.server)));
    attributes.push_back(TextAttribute("distbench.server", *rpc.server));
    attributes.push_back(
        NumberAttribute("distbench.request_bytes", sample.request_size()));
    attributes.push_back(
        NumberAttribute("distbench.response_bytes", sample.response_size()));
    if (sample.has_lateness_ns()) {
      attributes.push_back(
          NumberAttribute("distbench.lateness_ns", sample.lateness_ns()));
    }
    if (sample.has_wire_time_ns()) {
      attributes.push_back(
          NumberAttribute("distbench.wire_time_ns", sample.wire_time_ns()));
    }
    if (sample.warmup())
      attributes.push_back(FlagAttribute("distbench.warmup"));
  }

  const ServiceEndpoint* EndpointOf(const std::string& instance) const {
    const auto& endpoints = run_.result->placement().service_endpoints();
    const auto found = endpoints.find(instance);
    return found == endpoints.end() ? nullptr : &found->second;
  }

  void AddServerAddress(const std::string& server, Json& attributes) const {
    const ServiceEndpoint* endpoint = EndpointOf(server);
    if (endpoint == nullptr || endpoint->endpoint_address().empty()) return;
    const auto [host, port] = base::SplitHostPort(endpoint->endpoint_address());
    attributes.push_back(TextAttribute("server.address", host));
    int64_t number;
    if (absl::SimpleAtoi(port, &number)) {
      attributes.push_back(NumberAttribute("server.port", number));
    }
  }

  Json ResourceOf(const std::string& instance) const {
    Json attributes =
        Json::array({TextAttribute("service.name", ServiceOf(instance)),
                     TextAttribute("service.instance.id", instance),
                     TextAttribute("distbench.test", run_.name),
                     NumberAttribute("distbench.repetition", run_.repetition)});
    if (IsSimulated(*run_.result)) {
      attributes.push_back(FlagAttribute("distbench.simulated"));
    }
    const ServiceEndpoint* endpoint = EndpointOf(instance);
    if (endpoint != nullptr && endpoint->has_hostname()) {
      attributes.push_back(TextAttribute("host.name", endpoint->hostname()));
    }
    return {{"attributes", std::move(attributes)}};
  }

  const TestRun& run_;
  const std::map<std::string, std::string> drivers_;
  const uint64_t trace_id_prefix_;
  uint64_t tree_number_ = 0;
  std::map<std::string, Json> spans_;  // by instance
};

}  // namespace

absl::Status RenderOtlp(absl::Span<const TestRun> runs, ByteSink sink) {
  Json all = Json::array();
  for (size_t i = 0; i < runs.size(); ++i) {
    RunSpans spans(runs[i], i);
    for (const TraceTree& tree : CollectTraces(*runs[i].result)) {
      spans.AddTree(tree);
    }
    for (Json& part : spans.Take()) all.push_back(std::move(part));
  }
  if (all.empty()) return NoTracesError();
  Json request;
  request["resourceSpans"] = std::move(all);
  sink(base::DumpJson(request) + "\n");
  return absl::OkStatus();
}

}  // namespace distbench::report
