// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/benchpress/benchpress.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "distbench/base/json.h"
#include "distbench/base/time_units.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/products/search/benchpress/final_hook.h"
#include "distbench/products/search/judgement/measured_probe.h"
#include "distbench/products/search/report/search_text.h"
#include "distbench/products/search/search_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/resource_usage.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::search {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kBytesPerKib = 1024;
constexpr double kKibPerMib = 1024;

// Rounds to the precision that the original prints.
double Hundredths(double value) { return std::round(value * 100) / 100; }

// A number, or text where the original has text.
Json NumberOrText(double value, bool as_text) {
  if (as_text) return absl::StrFormat("%.6g", value);
  return value;
}

// The percentile that a report is about, and its limit.
struct Target {
  double percent = 95;
  std::optional<double> limit_ms;
};

Target TargetOf(const SearchReport& report) {
  for (const std::string& text : report.search().objectives()) {
    const absl::StatusOr<config::Objective> objective =
        config::ParseObjective(text);
    if (!objective.ok() || !objective->is_upper_limit) continue;
    const stats::Metric& metric = objective->metric;
    if (metric.kind == stats::Metric::Kind::kPercentile) {
      return {.percent = metric.percent,
              .limit_ms = objective->limit / base::kNsPerMs};
    }
  }
  return {};
}

double AchievedRate(const RpcStatistics& statistics) {
  return report::PerSecond(static_cast<double>(statistics.succeeded_count()),
                           statistics.last_end_timestamp_ns() -
                               statistics.first_start_timestamp_ns());
}

Json LatencyMs(const RpcStatistics& statistics, const Target& target) {
  const stats::Outcomes outcomes = ProbeLatency(statistics);
  if (outcomes.count() == 0) return nullptr;
  const int64_t value_ns = outcomes.ValueAtQuantile(target.percent / 100);
  if (value_ns == stats::Outcomes::kFailed) return nullptr;
  return Hundredths(static_cast<double>(value_ns) / base::kNsPerMs);
}

Json FinalMetrics(double requested, const RpcStatistics& statistics,
                  const Target& target) {
  return {{"final_achieved_qps", Hundredths(AchievedRate(statistics))},
          {"final_latency_msec", LatencyMs(statistics, target)},
          {"final_requested_qps", Hundredths(requested)}};
}

const SearchProbe* LastFinal(const SearchReport& report) {
  const SearchProbe* last = nullptr;
  for (const SearchProbe& probe : report.probes()) {
    if (probe.phase() == ToString(ProbePhase::kFinal)) last = &probe;
  }
  return last;
}

// The last probe, final or not, tells how many instances there were.
int SpawnedInstances(const SearchReport& report) {
  if (report.probes().empty()) return 1;
  return std::max(1, report.probes().rbegin()->instance_statistics_size());
}

void AddInstances(const SearchProbe& final, const Target& target,
                  bool strict_legacy, Json& metrics) {
  const int count = final.instance_statistics_size();
  const double share = final.requested_load() / count;
  double latency_sum = 0;
  std::vector<double> rates;
  int with_latency = 0;
  for (int i = 0; i < count; ++i) {
    const RpcStatistics& statistics = final.instance_statistics(i);
    Json instance = FinalMetrics(share, statistics, target);
    rates.push_back(AchievedRate(statistics));
    if (instance["final_latency_msec"].is_number()) {
      latency_sum += instance["final_latency_msec"].get<double>();
      ++with_latency;
    }
    metrics[absl::StrCat(i + 1)] = std::move(instance);
  }
  Json overall = {
      {"average_latency_msec",
       with_latency == 0 ? Json(nullptr)
                         : Json(Hundredths(latency_sum / with_latency))},
      {"final_achieved_qps", Hundredths(AchievedRate(final.statistics()))},
      {"final_requested_qps", Hundredths(final.requested_load())}};
  // A mean of percentiles is not a percentile, so merge the latencies.
  if (!strict_legacy) {
    overall["merged_latency_msec"] = LatencyMs(final.statistics(), target);
  }
  metrics["overall"] = std::move(overall);
  metrics["spawned_instances"] =
      strict_legacy ? Json(absl::StrCat(count)) : Json(count);
  // Each failed instance has its own reason.
  metrics["successful_instances"] = count - final.instance_failures_size();
  metrics["min_qps"] =
      Hundredths(*std::min_element(rates.begin(), rates.end()));
  metrics["max_qps"] =
      Hundredths(*std::max_element(rates.begin(), rates.end()));
}

void AddTarget(const Target& target, bool is_autoscale, bool strict_legacy,
               Json& metrics) {
  const bool as_text = strict_legacy && is_autoscale;
  metrics["target_percentile"] =
      target.limit_ms ? absl::StrCat(target.percent, "p") : "";
  metrics["target_latency_msec"] =
      target.limit_ms ? NumberOrText(*target.limit_ms, as_text) : Json("");
}

Json NumberOrNull(bool is_known, double value) {
  return is_known ? Json(Hundredths(value)) : Json(nullptr);
}

// The answer of a search with its confidence interval.
Json LoadJson(const SearchReport& report) {
  return {{"qps", NumberOrNull(report.has_load(), report.load())},
          {"min_qps", NumberOrNull(report.has_min_load(), report.min_load())},
          {"max_qps", NumberOrNull(report.has_max_load(), report.max_load())},
          {"confidence_level", base::OrNull(report.has_confidence_level(),
                                            report.confidence_level())},
          {"is_proven", report.is_proven()}};
}

// Adds metrics that the original does not have.
void AddOwnMetrics(const SearchReport& report, const Target& target,
                   Json& metrics) {
  metrics["status"] =
      report.has_verdict() ? Json(report.verdict()) : Json("not_ended");
  metrics["evidence"] = report.evidence();
  metrics["load"] = LoadJson(report);
  metrics["slo"] = Json::array();
  for (const std::string& text : report.search().objectives()) {
    metrics["slo"].push_back(text);
  }
  metrics["instance_failures"] = Json::array();
  if (!report.probes().empty()) {
    for (const std::string& text :
         report.probes().rbegin()->instance_failures()) {
      metrics["instance_failures"].push_back(text);
    }
  }
  metrics["final_runs"] = Json::array();
  for (const SearchProbe& probe : report.probes()) {
    if (probe.phase() != ToString(ProbePhase::kFinal)) continue;
    Json run = FinalMetrics(probe.requested_load(), probe.statistics(), target);
    run["outcome"] = probe.outcome();
    run["start_timestamp"] = probe.start_timestamp_ns() / base::kNsPerSecond;
    run["end_timestamp"] = probe.end_timestamp_ns() / base::kNsPerSecond;
    run["host_cpu_percent"] =
        probe.has_host_cpu_share()
            ? Json(Hundredths(100 * probe.host_cpu_share()))
            : Json(nullptr);
    metrics["final_runs"].push_back(std::move(run));
  }
}

Json MetricsJson(const SearchReport& report, bool strict_legacy) {
  const Target target = TargetOf(report);
  const int spawned = SpawnedInstances(report);
  const SearchProbe* final = LastFinal(report);
  // If the search failed before its final run, only the last probe is known.
  if (final == nullptr && report.verdict() == kInvalidVerdict &&
      !report.probes().empty()) {
    final = &*report.probes().rbegin();
  }
  Json metrics = Json::object();
  if (final != nullptr && final->instance_statistics_size() > 1) {
    AddInstances(*final, target, strict_legacy, metrics);
  } else if (final != nullptr && spawned == 1) {
    metrics =
        FinalMetrics(final->requested_load(), final->statistics(), target);
  } else {
    metrics = {{"final_achieved_qps", nullptr},
               {"final_latency_msec", nullptr},
               {"final_requested_qps", nullptr}};
  }
  metrics["is_fixed_qps"] = report.verdict() == kAllMetVerdict ||
                            report.verdict() == kNotAllMetVerdict;
  AddTarget(target, spawned > 1, strict_legacy, metrics);
  if (!strict_legacy) AddOwnMetrics(report, target, metrics);
  return metrics;
}

// Parses text such as "Linux 6.1.0 x86_64" from HostFacts.
Json MachineJson(const HostFacts& host, bool strict_legacy) {
  Json machine = Json::object();
  const std::vector<std::string> kernel = absl::StrSplit(host.kernel(), ' ');
  if (kernel.size() >= 3) {
    machine["cpu_architecture"] = kernel.back();
    machine["kernel_version"] = kernel[1];
  }
  if (host.has_cpu_model()) machine["cpu_model"] = host.cpu_model();
  machine["hostname"] = host.hostname();
  if (host.has_memory_bytes()) {
    const int64_t kib = host.memory_bytes() / kBytesPerKib;
    machine["mem_total_kib"] =
        strict_legacy ? Json(absl::StrCat(kib, " KiB")) : Json(kib);
  }
  const int cpus = results::CpuCountOf(host);
  machine["num_logical_cpus"] =
      strict_legacy ? Json(absl::StrCat(cpus)) : Json(cpus);
  const auto version = [&](const char* name, const char* key) {
    const auto found = host.versions().find(name);
    if (found != host.versions().end()) machine[key] = found->second;
  };
  version("os_id", "os_distro");
  version("os", "os_release_name");
  return machine;
}

// The hosts of a run, each once.
std::map<std::string, const HostFacts*> HostsOf(const TestResult* run) {
  std::map<std::string, const HostFacts*> hosts;
  if (run == nullptr) return hosts;
  const ResourceUsageLogs& usage = run->resource_usage_logs();
  for (const auto& [alias, node] : usage.node_resources()) {
    hosts[node.host().hostname()] = &node.host();
  }
  return hosts;
}

// Formats a size as lscpu does: "48 KiB", "1.5 MiB".
std::string SizeText(int64_t bytes) {
  const double kib = static_cast<double>(bytes) / kBytesPerKib;
  return kib < kKibPerMib ? absl::StrFormat("%.4g KiB", kib)
                          : absl::StrFormat("%.4g MiB", kib / kKibPerMib);
}

// The total size of the first host's caches, by name.
Json MetadataJson(const std::map<std::string, const HostFacts*>& hosts) {
  Json metadata = Json::object();
  if (hosts.empty()) return metadata;
  struct Sum {
    int64_t bytes = 0;
    int count = 0;
  };
  std::map<std::string, Sum> sums;
  for (const CpuCache& cache : hosts.begin()->second->topology().caches()) {
    Sum& sum = sums[cache.name()];
    sum.bytes += cache.size_bytes();
    ++sum.count;
  }
  for (const auto& [name, sum] : sums) {
    metadata[absl::StrCat(name, " cache")] =
        absl::StrCat(SizeText(sum.bytes), " (", sum.count,
                     sum.count == 1 ? " instance)" : " instances)");
  }
  return metadata;
}

Json HooksJson(const TestResult* run) {
  Json hooks = Json::array();
  if (run == nullptr) return hooks;
  for (const Finding& finding : run->run_info().findings()) {
    if (finding.code() == kFinalCommandFinding) {
      hooks.push_back(
          absl::StrCat(kFinalCommandFinding, ": ", finding.message()));
    }
  }
  return hooks;
}

// Eight digits that differ between runs. They derive from the seed, which is
// drawn for each run.
std::string RunId(const TestResult* run) {
  const uint64_t seed = run == nullptr ? 0 : run->run_info().random_seed();
  return absl::StrFormat("%08x", static_cast<uint32_t>(seed ^ (seed >> 32)));
}

std::string Description(const SearchReport& report) {
  return absl::StrCat("Finds the highest load that meets ",
                      absl::StrJoin(report.search().objectives(), " and "),
                      ".\n");
}

// `run` is the search's last run; null if there is none.
Json EnvelopeJson(const SearchReport& report, const TestResult* run,
                  bool strict_legacy) {
  const std::map<std::string, const HostFacts*> hosts = HostsOf(run);
  Json envelope = {
      {"benchmark_args", Json::array()},
      {"benchmark_desc", Description(report)},
      {"benchmark_hooks", HooksJson(run)},
      {"benchmark_name", run == nullptr ? "" : run->traffic_config().name()},
      {"machines", Json::array()},
      {"metadata", MetadataJson(hosts)},
      {"metrics", MetricsJson(report, strict_legacy)},
      {"run_id", RunId(run)}};
  for (const std::string& text : report.search().objectives()) {
    envelope["benchmark_args"].push_back(absl::StrCat("--slo=", text));
  }
  for (const auto& [name, host] : hosts) {
    envelope["machines"].push_back(MachineJson(*host, strict_legacy));
  }
  envelope["timestamp"] =
      report.probes().empty()
          ? Json(nullptr)
          : Json(report.probes(0).start_timestamp_ns() / base::kNsPerSecond);
  return envelope;
}

const TestResult* LastRunOf(const SourcedSearch& search,
                            absl::Span<const report::TestRun> runs) {
  const TestResult* last = nullptr;
  for (const report::TestRun& run : runs) {
    if (run.source == search.source) last = run.result;
  }
  return last;
}

}  // namespace

absl::StatusOr<std::string> RenderBenchpress(
    absl::Span<const SourcedSearch> searches,
    absl::Span<const report::TestRun> runs, const BenchpressOptions& options) {
  if (searches.empty()) {
    return absl::FailedPreconditionError(
        "there is no search in the results; `distbench search --outfile` "
        "writes one");
  }
  Json all = Json::array();
  for (const SourcedSearch& search : searches) {
    if (!LoadsAreRates(*search.report)) {
      return absl::FailedPreconditionError(absl::StrCat(
          search.source, ": the loads of its search are ",
          search.report->load_unit(),
          ", and this format only supports rates; use json or csv"));
    }
    all.push_back(EnvelopeJson(*search.report, LastRunOf(search, runs),
                               options.strict_legacy));
    // Also with strict_legacy: nobody may take it for a measurement.
    if (search.report->simulated()) all.back()["simulated"] = true;
  }
  const Json& document = all.size() == 1 ? all.front() : all;
  return base::DumpJson(document, 2) + '\n';
}

namespace {

int InstanceCount(const SearchReport& report) {
  int count = 1;
  for (const SearchProbe& probe : report.probes()) {
    count = std::max(count, probe.instance_statistics_size());
  }
  return count;
}

SearchProbe ProbeOfInstance(const SearchProbe& all, int instance,
                            double share) {
  SearchProbe own = all;
  own.set_requested_load(share * all.requested_load());
  own.set_achieved_load(share * all.achieved_load());
  *own.mutable_statistics() = all.instance_statistics(instance - 1);
  own.clear_instance_statistics();
  own.clear_instance_failures();
  return own;
}

void ShareLoads(double share, SearchReport& report) {
  if (report.has_load()) report.set_load(share * report.load());
  if (report.has_min_load()) report.set_min_load(share * report.min_load());
  if (report.has_max_load()) report.set_max_load(share * report.max_load());
}

}  // namespace

absl::StatusOr<SearchReport> ReportOfInstance(const SearchReport& all,
                                              int instance) {
  const int count = InstanceCount(all);
  if (instance < 1 || instance > count) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no instance ", instance,
                     "; the search has the instances 1 to ", count));
  }
  if (count == 1) return all;
  const double share = LoadsAreRates(all) ? 1.0 / count : 1;
  SearchReport own = all;
  own.clear_probes();
  for (const SearchProbe& probe : all.probes()) {
    if (probe.instance_statistics_size() < instance) continue;
    *own.add_probes() = ProbeOfInstance(probe, instance, share);
  }
  ShareLoads(share, own);
  return own;
}

}  // namespace distbench::search
