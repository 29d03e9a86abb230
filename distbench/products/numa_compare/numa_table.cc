#include "distbench/products/numa_compare/numa_table.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/base/time_units.h"
#include "distbench/products/search/report/search_text.h"
#include "distbench/report/derived/derive.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/terminal/layout.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/run_interval.h"

namespace distbench::numa_compare {
namespace {

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

// The ratio of the mean of the values to that of `first`, as far as there are
// both.
std::optional<stats::Difference> RatioTo(const std::vector<double>& first,
                                         const std::vector<double>& values) {
  if (values.empty() || first.empty()) return std::nullopt;
  return stats::RatioOfMeans(first, values, report::kReportConfidence);
}

// `first`: the searches of the deployment to compare with, if there is one.
void ReportCapacity(const Searches& searches, const Searches& first,
                    ReportedNumaComparison::Capacity& capacity) {
  for (const SearchReport& search : searches) {
    capacity.set_objective(absl::StrJoin(search.search().objectives(), ", "));
    if (search.has_load_unit()) capacity.set_unit(search.load_unit());
    auto& added = *capacity.add_searches();
    report::CopyByName(search, added);
    added.set_probe_count(search.probes_size());
  }
  const Found found = FoundBy(searches);
  const Found compared = FoundBy(first);
  if (!found.loads.empty()) {
    capacity.set_load(stats::GeometricMean(found.loads));
  }
  if (!found.latencies_ns.empty()) {
    capacity.set_mean_latency_ns(stats::GeometricMean(found.latencies_ns));
  }
  report::SetDifference(RatioTo(compared.loads, found.loads), "ratio", "ratio_",
                        capacity);
  report::SetDifference(RatioTo(compared.latencies_ns, found.latencies_ns),
                        "mean_latency_ratio", "mean_latency_ratio_", capacity);
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

ReportedNumaComparison ReportNumaComparison(const NumaComparison& comparison) {
  ReportedNumaComparison reported;
  for (const NumaDeployment& deployment : comparison.deployments()) {
    const bool is_first = reported.deployments().empty();
    const NumaDeployment& first = is_first ? NumaDeployment::default_instance()
                                           : comparison.deployments(0);
    ReportedNumaComparison::Deployment& added = *reported.add_deployments();
    report::CopyByName(deployment, added);
    if (const auto held = BindingsHeld(deployment)) {
      added.set_bindings_held(*held);
    }
    ReportCapacity(deployment.cpu_target_searches(),
                   first.cpu_target_searches(), *added.mutable_cpu_target());
    ReportCapacity(deployment.objective_searches(), first.objective_searches(),
                   *added.mutable_objective());
    for (const auto& [instance, proof] : ProofsOf(deployment)) {
      *added.add_proofs() = report::DeriveBinding(instance, proof);
    }
  }
  *reported.mutable_omissions() = comparison.omissions();
  return reported;
}

namespace {

using Deployment = ReportedNumaComparison::Deployment;
using Capacity = ReportedNumaComparison::Capacity;

std::string RatioText(bool has_ratio, double ratio, bool has_bounds,
                      double lower, double upper) {
  if (!has_ratio) return "-";
  std::string text = absl::StrFormat("%.3f", ratio);
  if (has_bounds) absl::StrAppendFormat(&text, " (%.3f to %.3f)", lower, upper);
  return text;
}

// How many of the searches count.
std::string FoundText(const Capacity& capacity) {
  return absl::StrCat(absl::c_count_if(capacity.searches(),
                                       [](const auto& search) {
                                         return search.verdict() == "converged";
                                       }),
                      "/", capacity.searches_size());
}

// The table of capacities; empty if there were no such searches.
std::string CapacitiesText(const ReportedNumaComparison& comparison,
                           const Capacity& (Deployment::*capacity_of)() const) {
  const Capacity& first = (comparison.deployments(0).*capacity_of)();
  if (first.searches().empty()) return "";
  report::PageTable table = {
      {"deployment", "instances", "workers", "load", "found",
       "ratio to the first", "mean latency", "ratio to the first"},
      {}};
  for (const Deployment& deployment : comparison.deployments()) {
    const Capacity& capacity = (deployment.*capacity_of)();
    table.rows.push_back(
        {{deployment.name()},
         {absl::StrCat(deployment.instances())},
         {absl::StrCat(deployment.instances() *
                       deployment.workers_per_instance())},
         {capacity.has_load() ? absl::StrFormat("%.6g", capacity.load()) : "-"},
         {FoundText(capacity)},
         {RatioText(capacity.has_ratio(), capacity.ratio(),
                    capacity.has_ratio_lower(), capacity.ratio_lower(),
                    capacity.ratio_upper())},
         {capacity.has_mean_latency_ns()
              ? absl::StrFormat("%.4g ms",
                                capacity.mean_latency_ns() / base::kNsPerMs)
              : "-"},
         {RatioText(capacity.has_mean_latency_ratio(),
                    capacity.mean_latency_ratio(),
                    capacity.has_mean_latency_ratio_lower(),
                    capacity.mean_latency_ratio_lower(),
                    capacity.mean_latency_ratio_upper())}});
  }
  return absl::StrCat("Highest ", first.unit(), " with ", first.objective(),
                      ":\n", report::RenderTable(table, report::kUnbroken));
}

// Resident memory by node, for example "0: 12.0 MiB, 1: 3.0 MiB".
std::string ResidentText(const BindingProof& proof) {
  constexpr double kBytesPerMib = 1 << 20;
  const std::map<int, int64_t> nodes(proof.resident_bytes_by_node().begin(),
                                     proof.resident_bytes_by_node().end());
  std::vector<std::string> parts;
  for (const auto& [node, bytes] : nodes) {
    parts.push_back(
        absl::StrFormat("%d: %.1f MiB", node, bytes / kBytesPerMib));
  }
  return parts.empty() ? "-" : absl::StrJoin(parts, ", ");
}

// CPU time by CPU, for example "2: 55 %, 3: 45 %".
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

std::string ProofText(const std::string& deployment,
                      const std::string& instance, const BindingProof& proof) {
  std::string text = absl::StrCat(
      "  ", deployment, " ", instance, ": asked for ",
      report::BindingText(proof), "; CPU time by CPU ", CpusText(proof),
      "; memory by node ", ResidentText(proof), "\n");
  for (const std::string& violation : proof.violations()) {
    absl::StrAppend(&text, "    NOT HELD: ", violation, "\n");
  }
  return text;
}

}  // namespace

std::string RenderNumaComparison(const NumaComparison& comparison) {
  if (comparison.deployments().empty()) return "";
  const ReportedNumaComparison reported = ReportNumaComparison(comparison);
  std::string text = CapacitiesText(reported, &Deployment::cpu_target) +
                     CapacitiesText(reported, &Deployment::objective);
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
