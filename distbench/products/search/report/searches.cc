// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/report/searches.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/json.h"
#include "distbench/base/message_json.h"
#include "distbench/products/search/report/report.pb.h"
#include "distbench/products/search/report/search_text.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/stats/outcomes.h"

namespace distbench::search {

// Compares the loads that searches found.

std::string QuestionOf(const SearchReport& search) {
  const std::string knob =
      search.search().has_knob() && search.search().knob() != "rate"
          ? absl::StrCat(" (knob ", search.search().knob(), ")")
          : "";
  return absl::StrCat("highest ", search.load_unit(), knob, " with ",
                      absl::StrJoin(search.search().objectives(), " and "));
}

namespace {

// Searches by what they looked for.
using Questions = std::map<std::string, Searches>;

void AddSearch(absl::string_view deployment, const SearchReport& search,
               Questions& questions) {
  questions[absl::StrCat(deployment, deployment.empty() ? "" : ": ",
                         QuestionOf(search))]
      .push_back(&search);
}

Questions QuestionsOf(absl::Span<const report::SourcedResults> sources) {
  Questions questions;
  for (const report::SourcedResults& source : sources) {
    for (const SearchReport& search : source.results.searches()) {
      AddSearch("", search, questions);
    }
    for (const NumaDeployment& deployment :
         source.results.numa_comparison().deployments()) {
      for (const auto& search : deployment.cpu_target_searches()) {
        AddSearch(deployment.name(), search, questions);
      }
      for (const auto& search : deployment.objective_searches()) {
        AddSearch(deployment.name(), search, questions);
      }
    }
  }
  return questions;
}

// The runs behind the searches.
std::vector<report::TestRun> SearchRuns(
    absl::Span<const report::SourcedResults> sources) {
  std::vector<report::TestRun> runs = report::ListRuns(sources);
  std::erase_if(runs, [](const report::TestRun& run) {
    return !HasSearches(*run.sequence);
  });
  return runs;
}

bool HasLoad(const SearchReport& search) {
  return search.verdict() == "converged" && search.load() > 0 &&
         std::isfinite(search.load());
}

// What calls took in the last final run; empty if the search has none.
stats::Outcomes FinalLatencyOf(const SearchReport& search) {
  for (auto probe = search.probes().rbegin(); probe != search.probes().rend();
       ++probe) {
    if (probe->phase() == "final") return ProbeLatency(probe->statistics());
  }
  return {};
}

// A value of such latencies; absent if they have none.
using LatencyValue = std::optional<double> (*)(const stats::Outcomes& latency);

// Of the calls that succeeded.
std::optional<double> MeanOf(const stats::Outcomes& latency) {
  const double mean_ns = latency.latency_ns.mean();
  if (latency.latency_ns.count() == 0 || mean_ns <= 0) return std::nullopt;
  return mean_ns;
}

// Absent if it falls among failures or beyond the number of RPCs.
template <int percent>
std::optional<double> PercentileOf(const stats::Outcomes& latency) {
  const int64_t value_ns =
      report::ShownPercentile(latency, percent).value_or(0);
  if (value_ns <= 0 || value_ns == stats::Outcomes::kFailed) {
    return std::nullopt;
  }
  return static_cast<double>(value_ns);
}

constexpr std::pair<const char*, LatencyValue> kLatencies[] = {
    {"p50", PercentileOf<50>}, {"p99", PercentileOf<99>}, {"mean", MeanOf}};

std::vector<double> LoadsOf(const Searches& searches) {
  std::vector<double> loads;
  for (const SearchReport* search : searches) {
    if (HasLoad(*search)) loads.push_back(search->load());
  }
  return loads;
}

// Returns none unless all searches that count have the value.
std::vector<double> LatenciesOf(const Searches& searches, LatencyValue of) {
  std::vector<double> values;
  for (const SearchReport* search : searches) {
    if (!HasLoad(*search)) continue;
    const std::optional<double> value = of(FinalLatencyOf(*search));
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

void AddRatio(const std::string& name, const std::vector<double>& base,
              const std::vector<double>& next,
              report::CapacityComparison& comparison) {
  if (base.empty() || next.empty()) return;
  comparison.ratios.push_back(
      {.name = name,
       .base = stats::GeometricMean(base),
       .next = stats::GeometricMean(next),
       .ratio = stats::RatioOfMeans(base, next, report::kCompareConfidence),
       .base_values = base,
       .next_values = next});
}

// The verdicts of those without a load: "unreachable, unstable".
std::string VerdictsWithoutLoad(const Searches& searches) {
  std::set<std::string> verdicts;
  for (const SearchReport* search : searches) {
    if (HasLoad(*search)) continue;
    verdicts.insert(search->has_verdict() ? search->verdict() : "not ended");
  }
  return absl::StrJoin(verdicts, ", ");
}

// Why a side has no load; empty if it has one.
std::string WhyNoLoad(absl::string_view side, const Searches& searches) {
  if (searches.empty()) return absl::StrCat(side, " has no such search");
  if (!LoadsOf(searches).empty()) return "";
  return absl::StrCat("no search of ", side,
                      " converged to a load: ", VerdictsWithoutLoad(searches));
}

report::SearchCounts CountsOf(const Searches& searches) {
  return {.all = static_cast<int>(searches.size()),
          .converged = static_cast<int>(LoadsOf(searches).size())};
}

// Notes the searches of a side that are not among what is compared.
void NoteUnconverged(const std::string& question, absl::string_view side,
                     const Searches& searches,
                     const report::SearchCounts& counts,
                     std::vector<std::string>& notes) {
  if (counts.converged == 0 || counts.converged == counts.all) return;
  notes.push_back(
      absl::StrCat(question, ": ", counts.all - counts.converged, " of ",
                   counts.all, " searches of ", side, " did not converge (",
                   VerdictsWithoutLoad(searches),
                   "); the load and the latencies are those of the others"));
}

}  // namespace

report::CapacityComparison CompareQuestion(const std::string& question,
                                           const Searches& base,
                                           const Searches& next) {
  report::CapacityComparison comparison = {.question = question,
                                           .base_searches = CountsOf(base),
                                           .next_searches = CountsOf(next)};
  comparison.not_comparable = WhyNoLoad("base", base);
  if (comparison.not_comparable.empty()) {
    comparison.not_comparable = WhyNoLoad("new", next);
  }
  if (!comparison.not_comparable.empty()) return comparison;
  for (const Searches* searches : {&base, &next}) {
    for (const SearchReport* search : *searches) {
      comparison.tolerance =
          std::max(comparison.tolerance, search->search().tolerance());
    }
  }
  AddRatio("load", LoadsOf(base), LoadsOf(next), comparison);
  for (const auto& [name, of] : kLatencies) {
    AddRatio(name, LatenciesOf(base, of), LatenciesOf(next, of), comparison);
  }
  return comparison;
}

bool HasSearches(const TestSequenceResults& results) {
  return results.searches_size() > 0 || results.has_numa_comparison();
}

report::CapacityComparisons CompareSearches(
    absl::Span<const report::SourcedResults> base,
    absl::Span<const report::SourcedResults> next,
    bool allow_different_traffic) {
  Questions base_questions = QuestionsOf(base);
  Questions next_questions = QuestionsOf(next);
  report::CapacityComparisons comparisons;
  const std::vector<report::TestRun> base_runs = SearchRuns(base);
  const std::vector<report::TestRun> next_runs = SearchRuns(next);
  std::string difference;
  if (!base_runs.empty() && !next_runs.empty()) {
    comparisons.notes =
        report::DescribeDifferences(base_runs, "new", next_runs);
    difference = report::WorkDifference(base_runs, next_runs);
  }
  if (!difference.empty() && allow_different_traffic) {
    comparisons.notes.push_back(
        absl::StrCat("the traffic differs: ", difference));
  }
  for (const auto& [question, searches] : next_questions) {
    base_questions[question];  // so that each question of either side is there
  }
  for (const auto& [question, searches] : base_questions) {
    const Searches& next_searches = next_questions[question];
    comparisons.questions.push_back(
        CompareQuestion(question, searches, next_searches));
    report::CapacityComparison& added = comparisons.questions.back();
    NoteUnconverged(question, "base", searches, added.base_searches,
                    comparisons.notes);
    NoteUnconverged(question, "new", next_searches, added.next_searches,
                    comparisons.notes);
    if (!difference.empty() && !allow_different_traffic) {
      added.ratios.clear();
      added.not_comparable = absl::StrCat("the traffic differs: ", difference);
    }
  }
  return comparisons;
}

namespace {

// Statistics of all instances together, or of one of them.
void ReportStatistics(const RpcStatistics& statistics,
                      ReportedSearch::Statistics& shown) {
  report::CopyByName(statistics, shown);
  shown.set_per_second(
      report::PerSecond(static_cast<double>(statistics.succeeded_count()),
                        statistics.last_end_timestamp_ns() -
                            statistics.first_start_timestamp_ns()));
  const stats::Outcomes outcomes = ProbeLatency(statistics);
  if (outcomes.count() == 0) return;
  report::SetTimes(outcomes, *shown.mutable_latency());
}

ReportedSearch ReportSearch(const SourcedSearch& sourced) {
  const SearchReport& report = *sourced.report;
  ReportedSearch search;
  report::CopyByName(report, search);
  search.set_source(sourced.source);
  *search.mutable_objectives() = report.search().objectives();
  search.set_knob(report.search().knob());
  search.set_tolerance(report.search().tolerance());
  search.set_answer(SearchAnswer(report));
  search.set_doubt(DoubtOf(report));
  for (int i = 0; i < report.earlier_attempts_size(); ++i) {
    search.mutable_earlier_attempts(i)->set_probe_count(
        report.earlier_attempts(i).probes_size());
  }
  for (int i = 0; i < report.probes_size(); ++i) {
    const SearchProbe& probe = report.probes(i);
    ReportedSearch::Probe& shown = *search.mutable_probes(i);
    ReportStatistics(probe.statistics(), *shown.mutable_statistics());
    for (const RpcStatistics& instance : probe.instance_statistics()) {
      ReportStatistics(instance, *shown.add_instances());
    }
  }
  return search;
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

std::string AnswersOf(const TestSequenceResults& results) {
  std::vector<std::string> answers;
  for (const SearchReport& search : results.searches()) {
    const std::string load = SearchAnswer(search);
    answers.push_back(
        absl::StrCat(search.has_verdict() ? search.verdict() : "not ended",
                     load.empty() ? "" : ": ", load));
  }
  return absl::StrJoin(answers, "; ");
}

base::Json SearchesJson(absl::Span<const SourcedSearch> searches) {
  base::Json json = base::Json::array();
  for (const SourcedSearch& search : searches) {
    json.push_back(base::MessageJson(ReportSearch(search)));
  }
  return json;
}

}  // namespace distbench::search
