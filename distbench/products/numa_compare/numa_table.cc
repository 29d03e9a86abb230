#include "distbench/products/numa_compare/numa_table.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/base/json.h"
#include "distbench/base/time_units.h"
#include "distbench/products/search/report/search_text.h"
#include "distbench/report/json/json_parts.h"
#include "distbench/report/json/json_values.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::numa_compare {
namespace {

using Json = nlohmann::ordered_json;

using Searches = google::protobuf::RepeatedPtrField<SearchReport>;

// The mean latency of the final runs that found the load.
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

DeploymentCapacity CapacityOf(const Searches& searches) {
  DeploymentCapacity capacity;
  for (const SearchReport& search : searches) {
    ++capacity.search_count;
    capacity.objective = absl::StrJoin(search.search().objectives(), ", ");
    if (search.has_load_unit()) capacity.unit = search.load_unit();
    // The loads of other searches may have been limited by something other than
    // the system.
    if (search.verdict() != "converged" || search.load() <= 0) continue;
    capacity.loads.push_back(search.load());
    if (const auto latency_ns = LatencyNsAtLoad(search)) {
      capacity.latencies_ns.push_back(*latency_ns);
    }
  }
  if (!capacity.loads.empty()) {
    capacity.mean = stats::GeometricMean(capacity.loads);
  }
  if (!capacity.latencies_ns.empty()) {
    capacity.latency_ns = stats::GeometricMean(capacity.latencies_ns);
  }
  return capacity;
}

void CompareWith(const DeploymentCapacity& base, double confidence,
                 DeploymentCapacity& capacity) {
  if (base.loads.empty() || capacity.loads.empty()) return;
  capacity.ratio = stats::RatioOfMeans(base.loads, capacity.loads, confidence);
  if (base.latencies_ns.empty() || capacity.latencies_ns.empty()) return;
  capacity.latency_ratio =
      stats::RatioOfMeans(base.latencies_ns, capacity.latencies_ns, confidence);
}

std::optional<bool> BindingsHeld(const NumaDeployment& deployment) {
  std::optional<bool> held;
  for (const auto& [instance, proof] : deployment.binding_proofs()) {
    if (!proof.has_binding()) continue;
    held = held.value_or(true) && proof.violations().empty();
  }
  return held;
}

std::map<std::string, const BindingProof*> SortedProofs(
    const NumaDeployment& deployment) {
  std::map<std::string, const BindingProof*> proofs;
  for (const auto& [instance, proof] : deployment.binding_proofs()) {
    proofs[instance] = &proof;
  }
  return proofs;
}

std::string LoadText(const DeploymentCapacity& capacity) {
  return capacity.mean ? absl::StrFormat("%.6g", *capacity.mean) : "-";
}

std::string RatioText(const std::optional<stats::Difference>& ratio) {
  if (!ratio) return "-";
  std::string text = absl::StrFormat("%.3f", ratio->estimate);
  if (const auto& interval = ratio->interval) {
    absl::StrAppendFormat(&text, " (%.3f to %.3f)", interval->lower,
                          interval->upper);
  }
  return text;
}

std::string LatencyText(const DeploymentCapacity& capacity) {
  if (!capacity.latency_ns) return "-";
  return absl::StrFormat("%.4g ms", *capacity.latency_ns / base::kNsPerMs);
}

std::string FoundText(const DeploymentCapacity& capacity) {
  return absl::StrCat(capacity.loads.size(), "/", capacity.search_count);
}

void AppendLatencies(const std::vector<DeploymentRow>& rows,
                     DeploymentCapacity DeploymentRow::*which,
                     std::string& text) {
  const bool has_latencies =
      std::any_of(rows.begin(), rows.end(), [which](const DeploymentRow& row) {
        return (row.*which).latency_ns.has_value();
      });
  if (!has_latencies) return;
  absl::StrAppendFormat(&text, "  %-14s %12s  %s\n", "at this load",
                        "mean latency", "ratio to the first");
  for (const DeploymentRow& row : rows) {
    const DeploymentCapacity& capacity = row.*which;
    absl::StrAppendFormat(&text, "  %-14s %12s  %s\n", row.deployment->name(),
                          LatencyText(capacity),
                          RatioText(capacity.latency_ratio));
  }
}

void AppendCapacities(const std::vector<DeploymentRow>& rows,
                      DeploymentCapacity DeploymentRow::*which,
                      std::string& text) {
  const DeploymentCapacity& first = rows.front().*which;
  if (first.search_count == 0) return;
  absl::StrAppend(&text, "Highest ", first.unit, " with ", first.objective,
                  ":\n");
  absl::StrAppendFormat(&text, "  %-14s %9s %8s %12s %6s  %s\n", "deployment",
                        "instances", "workers", "load", "found",
                        "ratio to the first");
  for (const DeploymentRow& row : rows) {
    const DeploymentCapacity& capacity = row.*which;
    absl::StrAppendFormat(
        &text, "  %-14s %9d %8d %12s %6s  %s\n", row.deployment->name(),
        row.deployment->instances(),
        row.deployment->instances() * row.deployment->workers_per_instance(),
        LoadText(capacity), FoundText(capacity), RatioText(capacity.ratio));
  }
  AppendLatencies(rows, which, text);
}

Json CapacityJson(const DeploymentCapacity& capacity,
                  const Searches& searches) {
  Json json = {{"objective", capacity.objective},
               {"unit", capacity.unit},
               {"load", base::OrNull(capacity.mean)}};
  report::SetDifference(capacity.ratio, "ratio", "ratio_", json);
  json["mean_latency_ns"] = base::OrNull(capacity.latency_ns);
  report::SetDifference(capacity.latency_ratio, "mean_latency_ratio",
                        "mean_latency_ratio_", json);
  json["searches"] = Json::array();
  for (const SearchReport& search : searches) {
    json["searches"].push_back(
        {{"verdict", search.verdict()},
         {"load", base::OrNull(search.has_load(), search.load())},
         {"evidence", search.evidence()},
         {"probe_count", search.probes_size()}});
  }
  return json;
}

}  // namespace

std::vector<const NumaComparison*> NumaComparisonsOf(
    absl::Span<const report::TestRun> runs) {
  std::vector<const NumaComparison*> comparisons;
  for (const report::TestRun& run : runs) {
    if (run.sequence == nullptr || !run.sequence->has_numa_comparison()) {
      continue;
    }
    const NumaComparison* comparison = &run.sequence->numa_comparison();
    if (std::find(comparisons.begin(), comparisons.end(), comparison) ==
        comparisons.end()) {
      comparisons.push_back(comparison);
    }
  }
  return comparisons;
}

std::vector<DeploymentRow> CompareDeployments(const NumaComparison& comparison,
                                              double confidence) {
  std::vector<DeploymentRow> rows;
  for (const NumaDeployment& deployment : comparison.deployments()) {
    rows.push_back({.deployment = &deployment,
                    .cpu_target = CapacityOf(deployment.cpu_target_searches()),
                    .objective = CapacityOf(deployment.objective_searches()),
                    .bindings_held = BindingsHeld(deployment)});
    if (rows.size() == 1) continue;
    CompareWith(rows[0].cpu_target, confidence, rows.back().cpu_target);
    CompareWith(rows[0].objective, confidence, rows.back().objective);
  }
  return rows;
}

std::string RenderNumaComparison(const NumaComparison& comparison) {
  if (comparison.deployments().empty()) return "";
  const std::vector<DeploymentRow> rows =
      CompareDeployments(comparison, report::kReportConfidence);
  std::string text;
  AppendCapacities(rows, &DeploymentRow::cpu_target, text);
  AppendCapacities(rows, &DeploymentRow::objective, text);
  absl::StrAppendFormat(
      &text,
      "Loads and latencies are geometric means of the searches that "
      "converged; in "
      "parentheses: %.0f %% confidence intervals.\n",
      100 * report::kReportConfidence);
  absl::StrAppend(&text, "Where it ran, in the last run:\n");
  for (const DeploymentRow& row : rows) {
    for (const auto& [instance, proof] : SortedProofs(*row.deployment)) {
      absl::StrAppend(&text, "  ", row.deployment->name(), " ", instance,
                      ": asked for ", report::BindingText(*proof),
                      "; CPU time by CPU ", report::CpusText(*proof),
                      "; memory by node ", report::ResidentText(*proof), "\n");
      for (const std::string& violation : proof->violations()) {
        absl::StrAppend(&text, "    NOT HELD: ", violation, "\n");
      }
    }
  }
  for (const std::string& omission : comparison.omissions()) {
    absl::StrAppend(&text, "Note: ", omission, "\n");
  }
  return text;
}

Json NumaComparisonJson(const NumaComparison& comparison) {
  Json json = {{"deployments", Json::array()}};
  for (const DeploymentRow& row :
       CompareDeployments(comparison, report::kReportConfidence)) {
    const NumaDeployment& deployment = *row.deployment;
    Json entry = {
        {"name", deployment.name()},
        {"instances", deployment.instances()},
        {"workers_per_instance", deployment.workers_per_instance()},
        {"bindings_held", base::OrNull(row.bindings_held)},
        {"cpu_target",
         CapacityJson(row.cpu_target, deployment.cpu_target_searches())},
        {"objective",
         CapacityJson(row.objective, deployment.objective_searches())}};
    entry["proofs"] = Json::array();
    for (const auto& [instance, proof] : SortedProofs(deployment)) {
      entry["proofs"].push_back(report::BindingProofJson(instance, *proof));
    }
    json["deployments"].push_back(std::move(entry));
  }
  json["omissions"] = Json::array();
  for (const std::string& omission : comparison.omissions()) {
    json["omissions"].push_back(omission);
  }
  return json;
}

}  // namespace distbench::numa_compare
