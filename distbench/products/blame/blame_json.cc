#include "distbench/products/blame/blame_json.h"

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "distbench/products/blame/blame.h"

namespace distbench::blame {
namespace {

using Json = nlohmann::ordered_json;

void AddEstimate(const char* name, const BlameEstimate& estimate, Json& json) {
  const std::string prefix = name;
  json[prefix] = estimate.value;
  json[prefix + "_lower"] = estimate.lower;
  json[prefix + "_upper"] = estimate.upper;
}

Json InstanceJson(const TracedRequests& requests, int instance) {
  return instance < 0 ? Json(nullptr) : Json(requests.instances[instance]);
}

Json SharesJson(const TracedRequests& requests,
                const std::vector<BlameShare>& shares) {
  Json json = Json::array();
  for (const BlameShare& share : shares) {
    Json& entry = json.emplace_back();
    entry["rpc"] = requests.rpcs[share.rpc];
    entry["instance"] = InstanceJson(requests, share.instance);
    entry["part"] = std::string(NameOf(share.part));
    AddEstimate("share", share.of_time, entry);
    entry["excess"] = nullptr;
    if (share.of_excess.has_value()) {
      AddEstimate("excess", *share.of_excess, entry);
    }
  }
  return json;
}

Json QuantilesJson(const RequestBlame& blame) {
  Json json = Json::array();
  for (size_t i = 0; i < std::size(kBlamedQuantiles); ++i) {
    const TailWindow& window = blame.windows[i];
    const QuantileShares& shares = blame.shares[i];
    const bool has_trees = !window.trees.empty();
    json.push_back(
        {{"percentile", 100 * kBlamedQuantiles[i]},
         {"trace_count", window.trees.size()},
         {"needed_count", window.needed_count},
         {"mean_ns", has_trees ? Json(shares.mean_ns) : Json(nullptr)},
         {"shares", SharesJson(blame.requests, shares.shares)},
         {"instances", SharesJson(blame.requests, shares.instance_shares)}});
  }
  return json;
}

Json LastJson(const LastCount& count) {
  return {{"fanout_count", count.fanout_count},
          {"last_count", count.last_count},
          {"expected_count", count.expected_count},
          {"most_by_chance", count.most_by_chance},
          {"is_straggler", count.is_straggler}};
}

Json StragglersJson(const RequestBlame& blame) {
  Json json = Json::array();
  for (const Straggler& straggler : blame.stragglers) {
    if (json.size() == kMostListedStragglers) break;
    json.push_back({{"rpc", blame.requests.rpcs[straggler.rpc]},
                    {"instance", blame.requests.instances[straggler.instance]},
                    {"is_to_blame", straggler.is_to_blame},
                    {"all", LastJson(straggler.of_all)},
                    {"tail", LastJson(straggler.of_tail)},
                    {"own_share", straggler.own_share},
                    {"tail_share", straggler.tail_share}});
  }
  return json;
}

Json WhatIfsJson(const RequestBlame& blame) {
  if (!blame.what_ifs.has_value()) return nullptr;
  Json json;
  AddEstimate("p99_ns", blame.what_ifs->now_ns, json);
  Json& remedies = json["remedies"] = Json::array();
  for (const WhatIf& what_if : blame.what_ifs->helpful) {
    Json& entry = remedies.emplace_back();
    entry["rpc"] = blame.requests.rpcs[what_if.remedy.rpc];
    entry["instance"] = InstanceJson(blame.requests, what_if.remedy.instance);
    AddEstimate("p99_ns", what_if.then_ns, entry);
    AddEstimate("saving", what_if.saving, entry);
  }
  return json;
}

Json RequestsJson(const RequestBlame& blame) {
  const TracedRequests& requests = blame.requests;
  return {{"rpc", requests.rpcs.front()},
          {"latency", requests.is_open_loop ? "response_time" : "service_time"},
          {"trace_count", requests.trees.size()},
          {"succeeded_count", requests.succeeded_count},
          {"incomplete_count", requests.incomplete_count},
          {"failed_count", requests.failed_count},
          {"warmup_count", requests.warmup_count},
          {"damaged_count", requests.damaged_count},
          {"call_count", requests.call_count},
          {"moved_call_count", requests.moved_call_count},
          {"sentences", blame.sentences},
          {"quantiles", QuantilesJson(blame)},
          {"stragglers", StragglersJson(blame)},
          {"tested_instance_count", blame.stragglers.size()},
          {"what_ifs", WhatIfsJson(blame)}};
}

}  // namespace

Json BlameJson(const TestResult& result) {
  const std::optional<TestBlame> blame = FindBlame(result);
  if (!blame.has_value()) return nullptr;
  Json json = {{"rootless_count", blame->rootless_count},
               {"dropped_sample_count", blame->dropped_sample_count}};
  Json& requests = json["requests"] = Json::array();
  for (const RequestBlame& of_rpc : blame->requests) {
    requests.push_back(RequestsJson(of_rpc));
  }
  return json;
}

}  // namespace distbench::blame
