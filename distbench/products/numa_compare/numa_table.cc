#include "distbench/products/numa_compare/numa_table.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/base/time_units.h"
#include "distbench/products/search/report/search_text.h"
#include "distbench/report/json/json_parts.h"
#include "distbench/report/json/json_values.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/terminal/layout.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/run_interval.h"

namespace distbench::numa_compare {
namespace {

using base::Json;
using Searches = google::protobuf::RepeatedPtrField<SearchReport>;

// The mean latency of the final runs that found the load: of response times, or
// of service times in closed loops, of the RPCs that succeeded.
std::optional<double> LatencyNsAtLoad(const SearchReport& search) {
  stats::LogHistogram latency_ns;
  for (const SearchProbe& probe : search.probes()) {
    if (probe.phase() != "final" || probe.outcome() != "met" ||
        probe.requested_load() != search.load()) {
      continue;
    }
    latency_ns.Merge(search::ProbeLatency(probe.statistics()).latency_ns);
  }
  if (latency_ns.count() == 0 || latency_ns.mean() <= 0) return std::nullopt;
  return latency_ns.mean();
}

// What searches found; the latencies are fewer if some measured none.
struct Found {
  std::vector<double> loads;
  std::vector<double> latencies_ns;
};

Found FoundBy(const Searches& searches) {
  Found found;
  for (const SearchReport& search : searches) {
    // The loads of other searches may have been limited by something other than
    // the system.
    if (search.verdict() != "converged" || search.load() <= 0) continue;
    found.loads.push_back(search.load());
    if (const auto latency_ns = LatencyNsAtLoad(search)) {
      found.latencies_ns.push_back(*latency_ns);
    }
  }
  return found;
}

// Sets `name` to the mean of the values, and `ratio` to its ratio to that of
// `first`; null without values.
void SetMean(const std::string& name, const std::vector<double>& values,
             const std::string& ratio, const std::vector<double>& first,
             Json& json) {
  json[name] =
      values.empty() ? Json(nullptr) : Json(stats::GeometricMean(values));
  std::optional<stats::Difference> difference;
  if (!values.empty() && !first.empty()) {
    difference = stats::RatioOfMeans(first, values, report::kReportConfidence);
  }
  report::SetDifference(difference, ratio, ratio + "_", json);
}

// `first`: the searches of the deployment to compare with, if there is one.
Json CapacityJson(const Searches& searches, const Searches& first) {
  Json json = {{"objective", ""}, {"unit", ""}};
  Json each = Json::array();
  for (const SearchReport& search : searches) {
    json["objective"] = absl::StrJoin(search.search().objectives(), ", ");
    if (search.has_load_unit()) json["unit"] = search.load_unit();
    each.push_back({{"verdict", search.verdict()},
                    {"load", base::OrNull(search.has_load(), search.load())},
                    {"evidence", search.evidence()},
                    {"probe_count", search.probes_size()}});
  }
  const Found found = FoundBy(searches);
  const Found compared = FoundBy(first);
  SetMean("load", found.loads, "ratio", compared.loads, json);
  SetMean("mean_latency_ns", found.latencies_ns, "mean_latency_ratio",
          compared.latencies_ns, json);
  json["searches"] = std::move(each);
  return json;
}

// Proofs by instance, sorted.
std::map<std::string, BindingProof> ProofsOf(const NumaDeployment& deployment) {
  return {deployment.binding_proofs().begin(),
          deployment.binding_proofs().end()};
}

// Whether every requested binding held; absent if none was requested.
std::optional<bool> BindingsHeld(const NumaDeployment& deployment) {
  std::optional<bool> held;
  for (const auto& [instance, proof] : deployment.binding_proofs()) {
    if (!proof.has_binding()) continue;
    held = held.value_or(true) && proof.violations().empty();
  }
  return held;
}

}  // namespace

Json NumaComparisonJson(const NumaComparison& comparison) {
  Json json = {{"deployments", Json::array()}, {"omissions", Json::array()}};
  for (const NumaDeployment& deployment : comparison.deployments()) {
    const bool is_first = json["deployments"].empty();
    const NumaDeployment& first = is_first ? NumaDeployment::default_instance()
                                           : comparison.deployments(0);
    Json proofs = Json::array();
    for (const auto& [instance, proof] : ProofsOf(deployment)) {
      proofs.push_back(report::BindingProofJson(instance, proof));
    }
    json["deployments"].push_back(
        {{"name", deployment.name()},
         {"instances", deployment.instances()},
         {"workers_per_instance", deployment.workers_per_instance()},
         {"bindings_held", base::OrNull(BindingsHeld(deployment))},
         {"cpu_target", CapacityJson(deployment.cpu_target_searches(),
                                     first.cpu_target_searches())},
         {"objective", CapacityJson(deployment.objective_searches(),
                                    first.objective_searches())},
         {"proofs", std::move(proofs)}});
  }
  for (const std::string& omission : comparison.omissions()) {
    json["omissions"].push_back(omission);
  }
  return json;
}

namespace {

std::string RatioText(const Json& capacity, const std::string& name) {
  if (capacity[name].is_null()) return "-";
  std::string text = absl::StrFormat("%.3f", capacity[name].get<double>());
  const Json& lower = capacity[name + "_lower"];
  if (lower.is_null()) return text;
  absl::StrAppendFormat(&text, " (%.3f to %.3f)", lower.get<double>(),
                        capacity[name + "_upper"].get<double>());
  return text;
}

// How many of the searches count.
std::string FoundText(const Json& searches) {
  return absl::StrCat(
      absl::c_count_if(
          searches,
          [](const Json& search) { return search["verdict"] == "converged"; }),
      "/", searches.size());
}

// The table of capacities; empty if there were no such searches.
std::string CapacitiesText(const Json& deployments, const char* objective) {
  const Json& first = deployments[0][objective];
  if (first["searches"].empty()) return "";
  report::PageTable table = {
      {"deployment", "instances", "workers", "load", "found",
       "ratio to the first", "mean latency", "ratio to the first"},
      {}};
  for (const Json& deployment : deployments) {
    const Json& capacity = deployment[objective];
    const Json& load = capacity["load"];
    const Json& latency_ns = capacity["mean_latency_ns"];
    const int instances = deployment["instances"];
    const int workers = deployment["workers_per_instance"];
    table.rows.push_back(
        {{deployment["name"].get<std::string>()},
         {absl::StrCat(instances)},
         {absl::StrCat(instances * workers)},
         {load.is_null() ? "-" : absl::StrFormat("%.6g", load.get<double>())},
         {FoundText(capacity["searches"])},
         {RatioText(capacity, "ratio")},
         {latency_ns.is_null()
              ? "-"
              : absl::StrFormat("%.4g ms",
                                latency_ns.get<double>() / base::kNsPerMs)},
         {RatioText(capacity, "mean_latency_ratio")}});
  }
  return absl::StrCat("Highest ", first["unit"].get<std::string>(), " with ",
                      first["objective"].get<std::string>(), ":\n",
                      report::RenderTable(table, report::kUnbroken));
}

std::string ProofText(const std::string& deployment,
                      const std::string& instance, const BindingProof& proof) {
  std::string text = absl::StrCat(
      "  ", deployment, " ", instance, ": asked for ",
      report::BindingText(proof), "; CPU time by CPU ", report::CpusText(proof),
      "; memory by node ", report::ResidentText(proof), "\n");
  for (const std::string& violation : proof.violations()) {
    absl::StrAppend(&text, "    NOT HELD: ", violation, "\n");
  }
  return text;
}

}  // namespace

std::string RenderNumaComparison(const NumaComparison& comparison) {
  if (comparison.deployments().empty()) return "";
  const Json json = NumaComparisonJson(comparison);
  std::string text = CapacitiesText(json["deployments"], "cpu_target") +
                     CapacitiesText(json["deployments"], "objective");
  absl::StrAppendFormat(
      &text,
      "Loads and latencies are geometric means of the searches that "
      "converged; in parentheses: %.0f %% confidence intervals.\n"
      "Where it ran, in the last run:\n",
      100 * report::kReportConfidence);
  for (const NumaDeployment& deployment : comparison.deployments()) {
    for (const auto& [instance, proof] : ProofsOf(deployment)) {
      text += ProofText(deployment.name(), instance, proof);
    }
  }
  for (const std::string& omission : comparison.omissions()) {
    absl::StrAppend(&text, "Note: ", omission, "\n");
  }
  return text;
}

}  // namespace distbench::numa_compare
