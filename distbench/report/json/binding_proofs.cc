#include "distbench/report/json/binding_proofs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace distbench::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kBytesPerMib = 1 << 20;

template <typename Map>
Json NumbersJson(const Map& map) {
  const std::map<int, int64_t> sorted(map.begin(), map.end());
  Json json = Json::object();
  for (const auto& [key, value] : sorted) json[absl::StrCat(key)] = value;
  return json;
}

Json CountersJson(const BindingProof& proof) {
  const std::map<int, NumaCounters> sorted(
      proof.numa_counters_by_node().begin(),
      proof.numa_counters_by_node().end());
  Json json = Json::object();
  for (const auto& [node, counters] : sorted) {
    json[absl::StrCat(node)] = {{"hit", counters.hit()},
                                {"miss", counters.miss()},
                                {"foreign", counters.foreign()},
                                {"interleave_hit", counters.interleave_hit()},
                                {"local_node", counters.local_node()},
                                {"other_node", counters.other_node()}};
  }
  return json;
}

}  // namespace

std::string BindingText(const BindingProof& proof) {
  if (!proof.has_binding()) return "none";
  const NumaBinding& binding = proof.binding();
  std::string policy = NumaBinding::MemoryPolicy_Name(binding.memory_policy());
  std::transform(policy.begin(), policy.end(), policy.begin(), ::tolower);
  return absl::StrCat("CPUs ", binding.cpus(), ", memory ", policy,
                      binding.memory_nodes().empty() ? "" : " ",
                      binding.memory_nodes());
}

std::string ResidentText(const BindingProof& proof) {
  const std::map<int, int64_t> nodes(proof.resident_bytes_by_node().begin(),
                                     proof.resident_bytes_by_node().end());
  std::vector<std::string> parts;
  for (const auto& [node, bytes] : nodes) {
    parts.push_back(
        absl::StrFormat("%d: %.1f MiB", node, bytes / kBytesPerMib));
  }
  return parts.empty() ? "-" : absl::StrJoin(parts, ", ");
}

std::string CpusText(const BindingProof& proof) {
  const std::map<int, int64_t> cpus(proof.cpu_time_ns_by_cpu().begin(),
                                    proof.cpu_time_ns_by_cpu().end());
  double sum = 0;
  for (const auto& [cpu, ns] : cpus) sum += static_cast<double>(ns);
  std::vector<std::string> parts;
  for (const auto& [cpu, ns] : cpus) {
    parts.push_back(absl::StrFormat("%d: %.0f %%", cpu, 100 * ns / sum));
  }
  return parts.empty() ? "-" : absl::StrJoin(parts, ", ");
}

Json BindingProofJson(const std::string& instance, const BindingProof& proof) {
  Json json = {
      {"instance", instance},
      {"binding", proof.has_binding() ? Json(BindingText(proof)) : Json()},
      {"is_strict", proof.binding().strict()},
      {"resident_bytes_by_node", NumbersJson(proof.resident_bytes_by_node())},
      {"cpu_time_ns_by_cpu", NumbersJson(proof.cpu_time_ns_by_cpu())},
      {"voluntary_context_switches",
       proof.has_voluntary_context_switches()
           ? Json(proof.voluntary_context_switches())
           : Json()},
      {"involuntary_context_switches",
       proof.has_involuntary_context_switches()
           ? Json(proof.involuntary_context_switches())
           : Json()},
      {"cpu_migrations",
       proof.has_cpu_migrations() ? Json(proof.cpu_migrations()) : Json()},
      {"numa_counters_by_node", CountersJson(proof)}};
  json["violations"] = Json::array();
  for (const std::string& text : proof.violations()) {
    json["violations"].push_back(text);
  }
  return json;
}

}  // namespace distbench::report
