// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/base/digest.h"
#include "distbench/base/time_units.h"
#include "distbench/config/reading/load.h"
#include "distbench/products/history/result_source.h"
#include "distbench/report/comparison/capacity.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/run_metrics.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/objectives.h"
#include "distbench/report/objectives/run_headline.h"
#include "distbench/stats/median.h"
#include "distbench/stats/metric.h"
#include "distbench/stats/outcomes.h"

namespace distbench::history {
namespace {

constexpr char kHigher[] = "higher";

// Only open loops have it.
constexpr char kSentOfOffered[] = "sent of offered";

// The metrics of RPCs that an index keeps, and what it calls them; percentiles
// are followed by the kind of latency.
const std::pair<absl::string_view, stats::Metric> kKeptMetrics[] = {
    {"p50", {stats::Metric::Kind::kPercentile, 50}},
    {"p99", {stats::Metric::Kind::kPercentile, 99}},
    {"p99.9", {stats::Metric::Kind::kPercentile, 99.9}},
    {"succeeded", {stats::Metric::Kind::kRate}},
    {"failed", {stats::Metric::Kind::kFailures}}};

// What a file, or one of its runs, says of series.
using Points = std::vector<FilePoint>;

// Adds a point without a value, which is returned. `rpc` is what stands in its
// place for other series.
TrendPoint& AddPoint(const std::string& rpc, const std::string& metric,
                     absl::string_view unit, absl::string_view better,
                     Points& points) {
  FilePoint& point = points.emplace_back();
  SeriesSummary& series = *point.mutable_series();
  series.set_rpc(rpc);
  series.set_metric(metric);
  series.set_unit(std::string(unit));
  series.set_better(std::string(better));
  return *point.mutable_point();
}

// The point has neither value nor bounds if there is no value, or if it falls
// among failed requests and therefore is infinite: the bounds would be taken
// for those of another run of the file.
void AddEstimate(const std::string& rpc, const std::string& name,
                 const stats::Metric& metric,
                 const absl::StatusOr<report::Estimate>& estimate,
                 Points& points) {
  const stats::MetricUnit unit = stats::UnitOf(metric);
  const bool is_time = unit == stats::MetricUnit::kNs;
  const absl::string_view better = !stats::HasBetter(metric)       ? "neither"
                                   : stats::HigherIsBetter(metric) ? kHigher
                                                                   : "lower";
  TrendPoint& point = AddPoint(
      rpc, name, is_time ? "seconds" : stats::UnitName(unit), better, points);
  if (!estimate.ok() || !std::isfinite(estimate->value)) return;
  const double scale = is_time ? base::kNsPerSecond : 1;
  const auto is_known = [](const std::optional<double>& bound) {
    return bound && std::isfinite(*bound);
  };
  point.set_value(estimate->value / scale);
  if (is_known(estimate->lower)) point.set_low(*estimate->lower / scale);
  if (is_known(estimate->upper)) point.set_high(*estimate->upper / scale);
}

// Percentiles that the number of requests does not support have no points.
void AddRpc(const report::RpcMeasurements& rpc, Points& points) {
  const report::LatencyKind latency = rpc.latency_kind();
  for (const auto& [name, metric] : kKeptMetrics) {
    const auto estimate = report::Measure(metric, rpc, latency);
    if (!estimate.ok() || !report::IsSupported(metric, rpc, latency)) continue;
    const std::string kind =
        stats::IsLatency(metric)
            ? absl::StrCat(" ", report::LatencyName(latency))
            : "";
    AddEstimate(rpc.name, absl::StrCat(name, kind), metric, estimate, points);
  }
  if (rpc.offered && rpc.offered->offered_count() > 0) {
    const auto offered = static_cast<double>(rpc.offered->offered_count());
    const auto unsent = static_cast<double>(rpc.offered->unsent_count());
    AddPoint(rpc.name, kSentOfOffered, "share", kHigher, points)
        .set_value(1 - unsent / offered);
  }
}

// All that was measured of a run; values only if it can be trusted. What
// products measure of runs is a series only as long as it is measured alike, so
// that its definition stands in place of the RPC. Simulated hosts have none of
// it, ever.
Points MeasureRun(const TestResult& run, const IndexedResult& result) {
  Points points;
  report::ForEachRpc(run, report::kMeasuredIntervals,
                     [&](const auto& rpc) { AddRpc(rpc, points); });
  if (!report::IsSimulated(run)) {
    for (const report::RunMetric& one : report::MeasureRunMetrics(run)) {
      AddEstimate(one.definition, stats::MetricName(one.metric), one.metric,
                  one.estimate, points);
    }
  }
  if (result.verdict() != "ok" && result.verdict() != "warn") {
    for (FilePoint& point : points) point.clear_point();
  }
  return points;
}

// The RPCs in the order of the test, those of open loops first: the load is
// theirs, and often causes the others.
std::vector<std::string> RpcsOf(const Points& points) {
  std::set<std::string> of_open_loops;
  std::vector<std::string> rpcs;
  for (const FilePoint& point : points) {
    const std::string& rpc = point.series().rpc();
    if (point.series().metric() == kSentOfOffered) of_open_loops.insert(rpc);
    if (!absl::c_linear_search(rpcs, rpc)) rpcs.push_back(rpc);
  }
  std::stable_partition(rpcs.begin(), rpcs.end(), [&](const std::string& rpc) {
    return of_open_loops.contains(rpc);
  });
  return rpcs;
}

void AddFigure(const std::string& name, double value, absl::string_view unit,
               IndexedResult& result) {
  result.add_headlines(name);
  (*result.mutable_metrics())[name] = value;
  (*result.mutable_units())[name] = std::string(unit);
}

// Of how many RPCs lists show figures.
constexpr size_t kShownRpcs = 2;

// Adds what lists show of requests that failed, if any did: points of series
// have neither percentiles among failures nor anything of invalid runs, which
// failures may well have made invalid.
void AddFailures(const report::RpcMeasurements& rpc, IndexedResult& result) {
  const report::LatencyKind latency = rpc.latency_kind();
  const stats::Outcomes& outcomes = rpc.latency(latency);
  if (outcomes.failed_count == 0) return;
  AddFigure(absl::StrCat(rpc.name, " · failed"), outcomes.failed_share(),
            stats::UnitName(stats::MetricUnit::kShare), result);
  const stats::Metric p99 = {stats::Metric::Kind::kPercentile, 99};
  const auto estimate = report::Measure(p99, rpc, latency);
  if (!estimate.ok() || std::isfinite(estimate->value) ||
      !report::IsSupported(p99, rpc, latency)) {
    return;
  }
  AddFigure(absl::StrCat(rpc.name, " · p99 ", report::LatencyName(latency)),
            std::numeric_limits<double>::infinity(), "seconds", result);
}

void AddFailures(const TestResult& run, IndexedResult& result) {
  size_t count = 0;
  report::ForEachRpc(run, report::kMeasuredIntervals, [&](const auto& rpc) {
    if (++count <= kShownRpcs) AddFailures(rpc, result);
  });
}

void AddHeadlinesOf(const std::string& rpc, const Points& points,
                    IndexedResult& result) {
  for (const FilePoint& point : points) {
    const SeriesSummary& series = point.series();
    const bool is_headline = series.metric() == "succeeded" ||
                             absl::StartsWith(series.metric(), "p99 ");
    if (series.rpc() != rpc || !is_headline || !point.point().has_value()) {
      continue;
    }
    AddFigure(absl::StrCat(rpc, " · ", series.metric()), point.point().value(),
              series.unit(), result);
  }
}

// Adds what lists show: figures of the first RPCs.
void AddHeadlines(const Points& points, IndexedResult& result) {
  std::vector<std::string> rpcs = RpcsOf(points);
  if (rpcs.size() > kShownRpcs) rpcs.resize(kShownRpcs);
  for (const std::string& rpc : rpcs) AddHeadlinesOf(rpc, points, result);
}

// The points of a file's series.
class PointMaker {
 public:
  explicit PointMaker(IndexedFile& file) : file_(file) {}

  // Adds the points of a run, which is the file's last test.
  void Add(Points points) {
    const int test = file_.tests_size() - 1;
    const IndexedResult& run = file_.tests(test).result();
    for (FilePoint& measured : points) {
      auto [entry, is_new] = groups_.try_emplace(
          {run.test(), measured.series().rpc(), measured.series().metric()});
      auto& [point, values, traffic] = entry->second;
      traffic.insert(run.traffic());
      if (is_new) {
        point.set_first_test(test);
        point.mutable_series()->set_test(run.test());
        point.mutable_point()->set_result(run.id());
        point.mutable_point()->set_started(run.started());
        point.mutable_point()->set_verdict("ok");
      }
      measured.mutable_point()->add_runs(run.id());
      if (measured.point().has_value()) {
        values.push_back(measured.point().value());
        if (run.verdict() == "warn") {
          measured.mutable_point()->set_verdict(run.verdict());
        }
      }
      point.MergeFrom(measured);
    }
  }

  // Of several values, their median stands for the file.
  void Finish() {
    for (auto& [key, group] : groups_) {
      auto& [point, values, traffic] = group;
      TrendPoint& median = *point.mutable_point();
      median.set_traffic(absl::StrJoin(traffic, ", "));
      point.set_left_out(median.runs_size() - static_cast<int>(values.size()));
      if (values.size() > 1) {
        median.set_value(stats::Median(values));
        median.set_low(*std::min_element(values.begin(), values.end()));
        median.set_high(*std::max_element(values.begin(), values.end()));
      }
      *file_.add_points() = std::move(point);
    }
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;

  struct Group {
    FilePoint point;
    std::vector<double> values;
    std::set<std::string> traffic;
  };

  IndexedFile& file_;
  std::map<Key, Group> groups_;
};

// Loads that a search chose are not the test's.
std::string TrafficDigest(const report::TestRun& run, bool has_chosen_load) {
  constexpr int kBytes = 8;
  const std::string text =
      has_chosen_load ? report::WorkText(run) : report::TrafficText(run);
  return absl::BytesToHexString(base::Sha256(text).substr(0, kBytes));
}

// Neither label nor seed: they differ where nothing has changed.
std::string ConfigDigest(DistributedSystemDescription config) {
  config.clear_name();
  config.clear_attributes();
  return config::ConfigHash(std::move(config));
}

// Values on different hosts, by what they are values of.
using Values = std::map<std::string, std::set<std::string>>;

// Adds what the map does not have yet.
void AddTo(google::protobuf::Map<std::string, std::string>& map,
           const Values& values) {
  for (const auto& [name, all] : values) {
    if (!map.contains(name)) map[name] = absl::StrJoin(all, ", ");
  }
}

void AddFacts(const report::TestRun& run, IndexedTest& test) {
  Values facts = {{"config", {ConfigDigest(run.result->traffic_config())}}};
  for (const report::Circumstance& circumstance :
       report::CompareCircumstances({run}, {run})) {
    facts[circumstance.name] = {circumstance.base};
  }
  // Comparisons do not list these.
  for (const auto& [node, resources] :
       run.result->resource_usage_logs().node_resources()) {
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
  AddTo(*test.mutable_facts(), facts);
}

void AddPlaces(const TestResult& run, IndexedResult& result) {
  std::set<std::string> hosts;
  Values of_nodes;
  for (const auto& [instance, endpoint] : run.placement().service_endpoints()) {
    if (endpoint.has_hostname()) hosts.insert(endpoint.hostname());
    for (const Attribute& attribute : endpoint.attributes()) {
      of_nodes[attribute.name()].insert(attribute.value());
    }
  }
  for (const std::string& host : hosts) result.add_hosts(host);
  *result.mutable_attributes() = run.traffic_config().attributes();
  AddTo(*result.mutable_attributes(), of_nodes);
}

// Tests are known by their names, in lists, filters and series. One that is
// called like a simulated one, like a search or like a step of it, must not be
// taken for it.
std::string MarkedName(const report::TestRun& run, bool is_step) {
  std::string name = run.name;
  const auto add = [&](bool has_mark, absl::string_view mark,
                       absl::string_view otherwise) {
    if (has_mark || absl::EndsWith(name, mark)) {
      absl::StrAppend(&name, has_mark ? mark : otherwise);
    }
  };
  add(report::HasChosenLoad(run), " (search)", " (no search)");
  add(is_step, " (step)", " (no step)");
  add(report::IsSimulated(*run.result), report::kSimulatedMark, " (real)");
  return name;
}

// When the first test of a file was begun, or a time near to it, in Unix
// nanoseconds. Results do not say when a test was tried whose traffic never
// started.
int64_t FirstTimeIn(const ResultEntry& entry, const KeptResults& kept,
                    const TestSequenceResults& results) {
  if (kept.start_ns > 0) return kept.start_ns;
  for (const TestResult& result : results.test_results()) {
    const RunInfo& info = result.run_info();
    if (info.has_start_timestamp_ns()) return info.start_timestamp_ns();
  }
  return entry.modified_ns;
}

void SetVerdicts(const TestResult& run, IndexedResult& result) {
  const report::TestTotals totals = report::AddUp(run);
  const report::RunHeadline headline =
      report::HeadlineOf(run, totals, report::CheckObjectives(run));
  result.set_verdict(report::RunVerdict(run, totals));
  result.set_headline(headline.verdict);
  result.set_doubts(report::DoubtsText(headline));
}

// `tried_ns` stands for the start of traffic that never started.
void Describe(const report::TestRun& run, const KeptResults& kept,
              int64_t tried_ns, IndexedResult& result) {
  const RunInfo& info = run.result->run_info();
  result.set_run_id(kept.run_id);
  result.set_label(kept.label);
  result.set_test(MarkedName(run, kept.is_step));
  const int64_t started_ns =
      info.has_start_timestamp_ns() ? info.start_timestamp_ns() : tried_ns;
  result.set_started(std::max<int64_t>(0, started_ns) / base::kNsPerMs);
  // Damaged times must not overflow.
  result.set_duration_seconds(
      std::max(0.0, static_cast<double>(info.end_timestamp_ns()) -
                        static_cast<double>(info.start_timestamp_ns())) /
      base::kNsPerSecond);
  SetVerdicts(*run.result, result);
  result.set_answer(report::FoundLoads(*run.sequence));
  result.set_traffic(
      TrafficDigest(run, kept.is_step || report::HasChosenLoad(run)));
  AddPlaces(*run.result, result);
  auto& attributes = *result.mutable_attributes();
  if (report::IsSimulated(*run.result)) attributes["simulated"] = "true";
  if (run.sequence->searches_size() > 0) {
    attributes["search"] =
        absl::StrJoin(run.sequence->searches(0).search().objectives(), " and ");
  }
}

// The loads that searches found.
Points LoadsOf(absl::Span<const report::SourcedResults> results) {
  Points points;
  const report::CapacityComparisons found = report::CompareCapacities(
      results, results, /*allow_different_traffic=*/true);
  for (const report::CapacityComparison& question : found.questions) {
    TrendPoint& load =
        AddPoint(question.question, "load found", "load", kHigher, points);
    for (const report::CapacityRatio& ratio : question.ratios) {
      if (!report::IsLoad(ratio)) continue;
      load.set_value(stats::Median(ratio.base_values));
    }
  }
  return points;
}

}  // namespace

IndexedFile MeasureFile(const ResultEntry& entry, const std::string& id,
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
  const absl::Span<const report::SourcedResults> all(&results, 1);
  PointMaker points(file);
  int64_t tried_ns = FirstTimeIn(entry, *kept, results.results);
  bool has_loads = false;
  for (const report::TestRun& run : report::ListRuns(all)) {
    IndexedTest& test = *file.add_tests();
    IndexedResult& result = *test.mutable_result();
    result.set_id(absl::StrCat(id, "-", file.tests_size() - 1));
    result.set_file(file.name());
    Describe(run, *kept, tried_ns, result);
    // The next test was tried when this one had ended.
    const RunInfo& info = run.result->run_info();
    if (info.has_end_timestamp_ns()) tried_ns = info.end_timestamp_ns();
    AddFacts(run, test);
    const Points measured = MeasureRun(*run.result, result);
    AddHeadlines(measured, result);
    AddFailures(*run.result, result);
    // The loads of a search's runs are its steps, not the test's.
    has_loads = report::HasChosenLoad(run);
    if (!has_loads && !kept->is_step) points.Add(measured);
  }
  if (has_loads) points.Add(LoadsOf(all));
  points.Finish();
  return file;
}

}  // namespace distbench::history
