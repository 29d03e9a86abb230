#include <algorithm>
#include <string>
#include <vector>

#include "distbench/base/json.h"
#include "distbench/products/search/report/search_answer.h"
#include "distbench/products/search/report/search_table.h"
#include "distbench/products/search/report/searches.h"
#include "distbench/report/json/json_parts.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/stats/outcomes.h"

namespace distbench::search {
namespace {

using Json = nlohmann::ordered_json;

template <typename Strings>
Json TextsJson(const Strings& texts) {
  Json json = Json::array();
  for (const std::string& text : texts) json.push_back(text);
  return json;
}

Json LatencyJson(const stats::Outcomes& outcomes) {
  if (outcomes.count() == 0) return nullptr;
  const auto at = [&](double quantile) {
    return report::OutcomeJson(outcomes.ValueAtQuantile(quantile));
  };
  return {{"mean_ns", outcomes.latency_ns.count() > 0
                          ? Json(outcomes.latency_ns.mean())
                          : Json(nullptr)},
          {"p50_ns", at(0.5)},
          {"p90_ns", at(0.9)},
          {"p95_ns", at(0.95)},
          {"p99_ns", at(0.99)},
          {"p999_ns", at(0.999)}};
}

// Statistics of all instances together, or of one of them.
Json StatisticsJson(const RpcStatistics& statistics) {
  const int64_t duration_ns = statistics.last_end_timestamp_ns() -
                              statistics.first_start_timestamp_ns();
  return {{"succeeded_count", statistics.succeeded_count()},
          {"failed_count", statistics.failed_count()},
          {"per_second",
           report::PerSecond(static_cast<double>(statistics.succeeded_count()),
                             duration_ns)},
          {"latency", LatencyJson(ProbeLatency(statistics))}};
}

Json ProbeJson(const SearchProbe& probe) {
  Json json = {{"number", probe.number()},
               {"phase", probe.phase()},
               {"outcome", probe.outcome()},
               {"requested_load", probe.requested_load()},
               {"achieved_load",
                base::OrNull(probe.has_achieved_load(), probe.achieved_load())},
               {"measured", TextsJson(probe.measured())},
               {"load_of_limit", Json::array()},
               {"start_timestamp_ns", probe.start_timestamp_ns()},
               {"end_timestamp_ns", probe.end_timestamp_ns()},
               {"statistics", StatisticsJson(probe.statistics())},
               {"host_cpu_share", base::OrNull(probe.has_host_cpu_share(),
                                               probe.host_cpu_share())},
               {"instances", Json::array()},
               {"instance_failures", TextsJson(probe.instance_failures())}};
  for (const double load : probe.load_of_limit()) {
    json["load_of_limit"].push_back(load);
  }
  for (const RpcStatistics& instance : probe.instance_statistics()) {
    json["instances"].push_back(StatisticsJson(instance));
  }
  return json;
}

Json SearchJson(const SourcedSearch& sourced) {
  const SearchReport& report = *sourced.report;
  Json json = {
      {"source", sourced.source},
      {"simulated", report.simulated()},
      {"objectives", TextsJson(report.search().objectives())},
      {"knob", report.search().knob()},
      {"load_unit", report.load_unit()},
      {"finds_lowest", report.finds_lowest()},
      {"tolerance", report.search().tolerance()},
      {"verdict", base::OrNull(report.has_verdict(), report.verdict())},
      {"evidence", report.evidence()},
      {"load", base::OrNull(report.has_load(), report.load())},
      {"min_load", base::OrNull(report.has_min_load(), report.min_load())},
      {"max_load", base::OrNull(report.has_max_load(), report.max_load())},
      {"confidence_level",
       base::OrNull(report.has_confidence_level(), report.confidence_level())},
      {"is_proven", base::OrNull(report.has_is_proven(), report.is_proven())},
      {"answer", SearchAnswer(report)},
      {"probes", Json::array()}};
  for (const SearchProbe& probe : report.probes()) {
    json["probes"].push_back(ProbeJson(probe));
  }
  return json;
}

}  // namespace

std::vector<SourcedSearch> ListSearches(
    absl::Span<const report::SourcedResults> results) {
  std::vector<SourcedSearch> searches;
  for (const report::SourcedResults& sourced : results) {
    for (const SearchReport& report : sourced.results.searches()) {
      searches.push_back({.source = sourced.source, .report = &report});
    }
  }
  return searches;
}

bool HasInvalidSearch(const TestSequenceResults& results) {
  const auto& searches = results.searches();
  return std::any_of(
      searches.begin(), searches.end(),
      [](const SearchReport& search) { return search.verdict() == "invalid"; });
}

Json SearchesJson(absl::Span<const SourcedSearch> searches) {
  Json json = Json::array();
  for (const SourcedSearch& search : searches) {
    json.push_back(SearchJson(search));
  }
  return json;
}

}  // namespace distbench::search
