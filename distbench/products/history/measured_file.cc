// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/measured_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/digest.h"
#include "distbench/base/time_units.h"
#include "distbench/config/reading/load.h"
#include "distbench/products/history/trends/change_points.h"
#include "distbench/report/comparison/capacity.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/run_metrics.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/median.h"
#include "distbench/stats/metric.h"

namespace distbench::history {
namespace {

// The metrics that an index keeps, and what it calls them; the names of
// percentiles are followed by the kind of latency.
struct KeptMetric {
  stats::Metric metric;
  absl::string_view name;
  absl::string_view unit;
};
const KeptMetric kKeptMetrics[] = {
    {{stats::Metric::Kind::kPercentile, 50}, "p50", "seconds"},
    {{stats::Metric::Kind::kPercentile, 99}, "p99", "seconds"},
    {{stats::Metric::Kind::kPercentile, 99.9}, "p99.9", "seconds"},
    {{stats::Metric::Kind::kRate}, "succeeded", "per_second"},
    {{stats::Metric::Kind::kFailures}, "failed", "share"}};

constexpr double kHeadlinePercent = 99;

// The first RPCs of a test that lists show.
constexpr size_t kHeadlineRpcs = 2;

// Absent: there is no bound, or it falls among failed requests.
std::optional<double> Kept(const stats::Metric& metric,
                           const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return stats::UnitOf(metric) == stats::MetricUnit::kNs
             ? *value / base::kNsPerSecond
             : *value;
}

// One run's value of a series. Absent where the percentile falls among failed
// requests, or the run failed or is invalid.
struct Measured {
  SeriesSummary series;
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
};

void SetEstimate(const stats::Metric& metric, const report::Estimate& estimate,
                 Measured& measured) {
  measured.value = Kept(metric, estimate.value);
  measured.low = Kept(metric, estimate.lower);
  measured.high = Kept(metric, estimate.upper);
}

constexpr char kHigher[] = "higher";

SeriesSummary SeriesOf(std::string test, const std::string& rpc,
                       std::string metric, absl::string_view unit,
                       absl::string_view better) {
  SeriesSummary series;
  series.set_test(std::move(test));
  series.set_rpc(rpc);
  series.set_metric(std::move(metric));
  series.set_unit(std::string(unit));
  series.set_better(std::string(better));
  return series;
}

absl::string_view BetterOf(const stats::Metric& metric) {
  if (!stats::HasBetter(metric)) return "neither";
  return stats::HigherIsBetter(metric) ? kHigher : "lower";
}

std::vector<Measured> MetricsOf(const std::string& test,
                                const report::RpcMeasurements& rpc) {
  std::vector<Measured> metrics;
  for (const KeptMetric& kept : kKeptMetrics) {
    const stats::Metric& metric = kept.metric;
    const report::LatencyKind latency = rpc.latency_kind();
    const auto estimate = report::Measure(metric, rpc, latency);
    if (!estimate.ok() || !report::IsSupported(metric, rpc, latency)) continue;
    std::string name(kept.name);
    if (stats::IsLatency(metric)) {
      absl::StrAppend(&name, " ", report::LatencyName(latency));
    }
    Measured& measured = metrics.emplace_back();
    measured.series =
        SeriesOf(test, rpc.name, std::move(name), kept.unit, BetterOf(metric));
    SetEstimate(metric, *estimate, measured);
  }
  if (rpc.offered && rpc.offered->offered_count() > 0) {
    const auto offered = static_cast<double>(rpc.offered->offered_count());
    const auto unsent = static_cast<double>(rpc.offered->unsent_count());
    metrics.push_back({.series = SeriesOf(test, rpc.name, "sent of offered",
                                          "share", kHigher),
                       .value = 1 - unsent / offered,
                       .low = std::nullopt,
                       .high = std::nullopt});
  }
  return metrics;
}

// What products measure of the run. A series is only of what is measured alike,
// so that its definition stands in place of the RPC. Simulated hosts have none
// of it, ever.
std::vector<Measured> RunMetricsOf(const std::string& test,
                                   const TestResult& run) {
  if (report::IsSimulated(run)) return {};
  std::vector<Measured> metrics;
  for (const report::RunMetric& one : report::MeasureRunMetrics(run)) {
    const bool is_time = stats::UnitOf(one.metric) == stats::MetricUnit::kNs;
    Measured& measured = metrics.emplace_back();
    measured.series = SeriesOf(
        test, one.definition, stats::MetricName(one.metric),
        is_time ? "seconds" : stats::UnitName(stats::UnitOf(one.metric)),
        BetterOf(one.metric));
    if (one.estimate.ok()) SetEstimate(one.metric, *one.estimate, measured);
  }
  return metrics;
}

bool IsHeadline(const std::string& metric) {
  return metric == "succeeded" ||
         metric.rfind(absl::StrCat("p", kHeadlinePercent, " "), 0) == 0;
}

// Adds what lists show to the result. Returns all that was measured.
std::vector<Measured> MeasureRun(const TestResult& run, IndexedResult& result) {
  const bool is_trusted =
      result.verdict() == "ok" || result.verdict() == "warn";
  std::vector<Measured> all;
  size_t rpcs = 0;
  const auto forget = [&](Measured& metric) {
    if (!is_trusted) metric.value = metric.low = metric.high = std::nullopt;
  };
  const auto measure = [&](const report::RpcMeasurements& rpc) {
    for (Measured& metric : MetricsOf(result.test(), rpc)) {
      forget(metric);
      const std::string& name = metric.series.metric();
      if (metric.value && rpcs < kHeadlineRpcs && IsHeadline(name)) {
        (*result.mutable_metrics())[absl::StrCat(rpc.name, " · ", name)] =
            *metric.value;
      }
      all.push_back(std::move(metric));
    }
    ++rpcs;
  };
  report::ForEachRpc(run, std::numeric_limits<int64_t>::max(), measure);
  for (Measured& metric : RunMetricsOf(result.test(), run)) {
    forget(metric);
    all.push_back(std::move(metric));
  }
  return all;
}

// The points of a file's series.
class PointMaker {
 public:
  explicit PointMaker(IndexedFile& file) : file_(file) {}

  // Adds a run, which is the file's last test.
  void Add(const Measured& measured) {
    const int test = file_.tests_size() - 1;
    const IndexedResult& run = file_.tests(test).result();
    const SeriesSummary& of = measured.series;
    auto [entry, is_new] =
        groups_.try_emplace({of.test(), of.rpc(), of.metric()});
    Group& group = entry->second;
    TrendPoint& point = *group.point.mutable_point();
    if (is_new) {
      *group.point.mutable_series() = of;
      group.point.set_first_test(test);
      point.set_result(run.id());
      point.set_started(run.started());
      point.set_verdict("ok");
    }
    point.add_runs(run.id());
    if (!measured.value) {
      group.point.set_left_out(group.point.left_out() + 1);
      return;
    }
    if (run.verdict() == "warn") point.set_verdict(run.verdict());
    group.values.push_back(*measured.value);
    group.only = measured;
  }

  void Finish() {
    for (auto& [key, group] : groups_) {
      SetValue(group);
      *file_.add_points() = std::move(group.point);
    }
  }

 private:
  struct Group {
    FilePoint point;
    std::vector<double> values;
    Measured only;  // if there is one value
  };

  static void SetValue(Group& group) {
    if (group.values.empty()) return;
    TrendPoint& point = *group.point.mutable_point();
    point.set_value(stats::Median(group.values));
    const auto [low, high] =
        std::minmax_element(group.values.begin(), group.values.end());
    const bool is_single = group.values.size() == 1;
    if (!is_single || group.only.low) {
      point.set_low(is_single ? *group.only.low : *low);
    }
    if (!is_single || group.only.high) {
      point.set_high(is_single ? *group.only.high : *high);
    }
  }

  IndexedFile& file_;
  std::map<std::tuple<std::string, std::string, std::string>, Group> groups_;
};

// Neither label nor seed: they differ where nothing has changed.
std::string ConfigDigest(DistributedSystemDescription config) {
  config.clear_name();
  config.clear_attributes();
  return config::ConfigHash(std::move(config));
}

std::string Joined(const std::set<std::string>& values) {
  return absl::StrJoin(values, ", ");
}

// Facts that comparisons do not list.
std::map<std::string, std::string> HostFactsOf(const TestResult& result) {
  std::map<std::string, std::set<std::string>> facts;
  for (const auto& [node, resources] :
       result.resource_usage_logs().node_resources()) {
    const HostFacts& host = resources.host();
    if (host.has_numa_node_count()) {
      facts["NUMA nodes"].insert(absl::StrCat(host.numa_node_count()));
    }
    for (const NetworkDevice& device : host.network_devices()) {
      facts["network devices"].insert(
          absl::StrCat(device.name(), " MTU ", device.mtu()));
    }
    for (const auto& [name, version] : host.versions()) {
      facts[absl::StrCat("version of ", name)].insert(version);
    }
  }
  std::map<std::string, std::string> texts;
  for (const auto& [name, values] : facts) texts[name] = Joined(values);
  return texts;
}

void AddFacts(const report::TestRun& run, IndexedTest& test) {
  std::map<std::string, std::string> facts = HostFactsOf(*run.result);
  for (const report::Circumstance& circumstance :
       report::CompareCircumstances({run}, {run})) {
    facts[circumstance.name] = circumstance.base;
  }
  facts["config"] = ConfigDigest(run.result->traffic_config());
  for (auto& [name, value] : facts) {
    if (!value.empty()) (*test.mutable_facts())[name] = std::move(value);
  }
}

void AddPlaces(const TestResult& run, IndexedResult& result) {
  auto& attributes = *result.mutable_attributes();
  attributes = run.traffic_config().attributes();
  std::set<std::string> hosts;
  std::map<std::string, std::set<std::string>> of_nodes;
  for (const auto& [instance, endpoint] : run.placement().service_endpoints()) {
    if (endpoint.has_hostname()) hosts.insert(endpoint.hostname());
    for (const Attribute& attribute : endpoint.attributes()) {
      of_nodes[attribute.name()].insert(attribute.value());
    }
  }
  for (const std::string& host : hosts) result.add_hosts(host);
  for (const auto& [name, values] : of_nodes) {
    if (!attributes.contains(name)) attributes[name] = Joined(values);
  }
}

constexpr absl::string_view kSearchMark = " (search)";

// Tests are known by their names, in lists, filters and series. A test that is
// called like a simulated one, or like a run of a search, must not be taken for
// it.
std::string MarkedName(const report::TestRun& run) {
  std::string name = run.name;
  if (report::HasChosenLoad(run)) {
    absl::StrAppend(&name, kSearchMark);
  } else if (absl::EndsWith(name, kSearchMark)) {
    name += " (no search)";
  }
  const bool is_misleading = !report::IsSimulated(*run.result) &&
                             absl::EndsWith(name, report::kSimulatedMark);
  return is_misleading ? absl::StrCat(name, " (real)")
                       : report::MarkedName(name, *run.result);
}

std::string ResultId(const std::string& file, int test_index) {
  constexpr size_t kBytes = 8;
  return absl::StrCat(
      absl::BytesToHexString(base::Sha256(file).substr(0, kBytes)), "-",
      test_index);
}

IndexedResult Describe(const report::TestRun& run, const KeptResults& kept) {
  const RunInfo& info = run.result->run_info();
  IndexedResult result;
  result.set_run_id(kept.run_id);
  result.set_label(kept.label);
  result.set_test(MarkedName(run));
  result.set_started(std::max<int64_t>(0, info.start_timestamp_ns()) /
                     base::kNsPerMs);
  // Damaged times must not overflow.
  result.set_duration_seconds(
      std::max(0.0, static_cast<double>(info.end_timestamp_ns()) -
                        static_cast<double>(info.start_timestamp_ns())) /
      base::kNsPerSecond);
  result.set_verdict(report::RunVerdict(*run.result));
  AddPlaces(*run.result, result);
  auto& attributes = *result.mutable_attributes();
  if (report::IsSimulated(*run.result)) attributes["simulated"] = "true";
  if (run.sequence->searches_size() > 0) {
    attributes["search"] =
        absl::StrJoin(run.sequence->searches(0).search().objectives(), " and ");
  }
  return result;
}

// The loads that searches found, as points of the file's last test.
void AddLoads(const report::SourcedResults& results, PointMaker& points,
              const std::string& test) {
  const absl::Span<const report::SourcedResults> all(&results, 1);
  const report::CapacityComparisons found =
      report::CompareCapacities(all, all, /*allow_different_traffic=*/true);
  for (const report::CapacityComparison& question : found.questions) {
    Measured load;
    load.series =
        SeriesOf(test, question.question, "load found", "load", kHigher);
    for (const report::CapacityRatio& ratio : question.ratios) {
      if (report::IsLoad(ratio)) load.value = stats::Median(ratio.base_values);
    }
    points.Add(load);
  }
}

void MeasureRuns(const KeptResults& kept, const report::SourcedResults& results,
                 IndexedFile& file) {
  PointMaker points(file);
  const absl::Span<const report::SourcedResults> all(&results, 1);
  const std::vector<report::TestRun> runs = report::ListRuns(all);
  if (runs.empty()) return;
  // The loads of a search's runs are its steps, not the test's.
  const bool has_loads = report::HasChosenLoad(runs.front());
  for (const report::TestRun& run : runs) {
    IndexedTest& test = *file.add_tests();
    IndexedResult& result = *test.mutable_result();
    result = Describe(run, kept);
    result.set_id(ResultId(file.name(), file.tests_size() - 1));
    result.set_file(file.name());
    AddFacts(run, test);
    const std::vector<Measured> measured = MeasureRun(*run.result, result);
    if (has_loads) continue;
    for (const Measured& metric : measured) points.Add(metric);
  }
  if (has_loads) {
    AddLoads(results, points, file.tests().rbegin()->result().test());
  }
  points.Finish();
}

}  // namespace

int64_t HashOf(absl::string_view name) {
  constexpr int kBytes = 6;
  int64_t hash = 0;
  for (const unsigned char byte : base::Sha256(name).substr(0, kBytes)) {
    hash = hash << 8 | byte;
  }
  return hash;
}

IndexedFile MeasureFile(const ResultEntry& entry,
                        absl::StatusOr<KeptResults> kept) {
  IndexedFile file;
  file.set_name(entry.name);
  file.set_size_bytes(entry.size_bytes);
  file.set_modified_ns(entry.modified_ns);
  if (!kept.ok()) {
    file.set_problem(std::string(kept.status().message()));
    return file;
  }
  const report::SourcedResults results = {.source = entry.name,
                                          .results = std::move(kept->results)};
  MeasureRuns(*kept, results, file);
  return file;
}

}  // namespace distbench::history
