#include "distbench/report/export/otlp.h"

#include <algorithm>
#include <cstdint>
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
#include "distbench/report/export/trace_tree.h"
#include "distbench/report/measurements/origin.h"

namespace distbench::report {
namespace {

using Json = nlohmann::ordered_json;

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
