// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/report/search_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "distbench/base/time_units.h"
#include "distbench/products/search/judgement/measured_probe.h"
#include "distbench/products/search/strategy/probe_history.h"
#include "distbench/report/csv/csv.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::search {
namespace {

std::string UtcClock(int64_t unix_ns) {
  return absl::FormatTime("%H:%M:%S", absl::FromUnixNanos(unix_ns),
                          absl::UTCTimeZone());
}

void AddProbe(const SearchProbe& probe, std::vector<std::string>& lines) {
  lines.push_back(absl::StrFormat(
      "  %3d %-9s %12.6g %-17s %s to %s  %s", probe.number(), probe.phase(),
      probe.requested_load(), probe.outcome(),
      UtcClock(probe.start_timestamp_ns()), UtcClock(probe.end_timestamp_ns()),
      absl::StrJoin(probe.measured(), "; ")));
  for (const std::string& remark : RemarksOn(probe)) {
    lines.push_back(absl::StrCat("      ", remark));
  }
}

}  // namespace

std::vector<std::string> SummarizeSearch(const SearchReport& report) {
  std::vector<std::string> lines;
  if (report.simulated()) lines.push_back("Simulated, not measured:");
  lines.push_back(
      absl::StrCat("Search for the ",
                   report.finds_lowest() ? "lowest" : "highest", " load with ",
                   absl::StrJoin(report.search().objectives(), " and "), ":"));
  if (report.has_verdict()) {
    lines.push_back(
        absl::StrCat("  ", report.verdict(), ": ", report.evidence()));
  } else {
    lines.push_back("  not ended: --resume continues it");
  }
  if (const std::string answer = AnswerLine(report); !answer.empty()) {
    lines.push_back(absl::StrCat("  ", answer));
  }
  if (const std::string doubt = DoubtOf(report); !doubt.empty()) {
    lines.push_back(absl::StrCat("  doubt: ", doubt));
  }
  if (!report.earlier_attempts().empty()) {
    lines.push_back(absl::StrCat("  attempts before, without an answer: ",
                                 report.earlier_attempts_size()));
  }
  lines.push_back(absl::StrFormat("  %3s %-9s %12s %-17s %-20s  %s", "#",
                                  "phase", "load", "outcome", "measured (UTC)",
                                  "what"));
  for (const SearchProbe& probe : report.probes()) AddProbe(probe, lines);
  return lines;
}

std::string ProbeText(const SearchProbe& probe) {
  return absl::StrFormat("  probe %d (%s) at %.6g: %s, %s", probe.number(),
                         probe.phase(), probe.requested_load(), probe.outcome(),
                         absl::StrJoin(probe.measured(), ", "));
}

std::vector<std::string> RemarksOn(const SearchProbe& probe) {
  std::vector<std::string> remarks(probe.instance_failures().begin(),
                                   probe.instance_failures().end());
  for (const std::string& sentence : probe.disturbances()) {
    remarks.push_back(absl::StrCat("disturbed: ", sentence));
  }
  return remarks;
}

namespace {

// ---- Lists of loads ---------------------------------------------------------

// What a list says about the limit, if anything met. Where harder loads carry
// more, nothing meets beyond a miss: one of the two measurements is chance.
struct ListAnswer {
  // The hardest load that met while no easier one missed.
  std::optional<double> load;

  // The easiest that missed, and those that met although it had.
  std::optional<double> miss;
  std::vector<double> beyond;
};

ListAnswer JudgeList(const SearchReport& report) {
  const auto is_harder = [&](double load, double other) {
    return report.finds_lowest() ? load < other : load > other;
  };
  ListAnswer answer;
  for (const SearchProbe& probe : report.probes()) {
    const double load = probe.requested_load();
    if (probe.outcome() != kMissedOutcome) continue;
    if (!answer.miss || is_harder(*answer.miss, load)) answer.miss = load;
  }
  for (const SearchProbe& probe : report.probes()) {
    const double load = probe.requested_load();
    if (probe.outcome() != kMetOutcome) continue;
    if (answer.miss && !is_harder(*answer.miss, load)) {
      answer.beyond.push_back(load);
    } else if (!answer.load || is_harder(load, *answer.load)) {
      answer.load = load;
    }
  }
  return answer;
}

std::string LoadsText(const std::vector<double>& loads) {
  return absl::StrJoin(loads, ", ", [](std::string* text, double load) {
    absl::StrAppend(text, LoadText(load));
  });
}

std::string ContradictionOf(const SearchReport& report) {
  if (report.loads().empty()) return "";
  const ListAnswer answer = JudgeList(report);
  if (answer.beyond.empty()) return "";
  return absl::StrCat(LoadsText(answer.beyond), " met although ",
                      LoadText(*answer.miss),
                      " missed, and one of these is chance; run the list for "
                      "longer (--final_duration), or on quieter hosts");
}

// Whether the interval of the measurement, at kSearchConfidence, leaves open
// whether the load meets.
bool IsUndecided(const SearchProbe& probe) {
  const double error = kErrorsToBound * probe.excess_error();
  if (probe.outcome() == kMetOutcome) return !(probe.excess() + error <= 0);
  return probe.outcome() == kMissedOutcome && !(probe.excess() - error > 0);
}

// What is known of each load: "; met: 100, 200; missed: 400".
std::string LoadsByOutcome(const SearchReport& report) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups = {
      {kMetOutcome, {}},
      {kMissedOutcome, {}},
      {kGeneratorLimitedOutcome, {}},
      {kTooLowOutcome, {}}};
  std::vector<std::string> undecided;
  for (const SearchProbe& probe : report.probes()) {
    const std::string load = LoadText(probe.requested_load());
    if (IsUndecided(probe)) {
      undecided.push_back(absl::StrCat(load, " (", probe.outcome(), ")"));
      continue;
    }
    for (auto& [outcome, loads] : groups) {
      if (outcome == probe.outcome()) loads.push_back(load);
    }
  }
  groups.emplace_back(
      absl::StrFormat("undecided at %g %%", 100 * kSearchConfidence),
      std::move(undecided));
  std::string text;
  for (const auto& [outcome, loads] : groups) {
    if (loads.empty()) continue;
    absl::StrAppend(&text, "; ", absl::StrReplaceAll(outcome, {{"_", " "}}),
                    ": ", absl::StrJoin(loads, ", "));
  }
  return text;
}

std::string AnswerOfListText(const SearchReport& report) {
  if (!report.has_load() && JudgeList(report).beyond.empty()) return "";
  return absl::StrCat(report.has_load() ? absl::StrCat(LoadText(report.load()),
                                                       " ", report.load_unit())
                                        : "none",
                      LoadsByOutcome(report));
}

// What SearchAnswer() gives.
std::string NameOfAnswer(const SearchReport& report) {
  const bool is_lowest = report.finds_lowest();
  const char* const extreme = is_lowest ? "lowest" : "highest";
  if (!report.loads().empty()) {
    return JudgeList(report).beyond.empty()
               ? absl::StrCat(extreme, " load that met")
               : absl::StrCat(extreme, " load ", is_lowest ? "above" : "below",
                              " all that missed");
  }
  const auto is_of_answer = [&](const SearchProbe& probe) {
    return probe.phase() == ToString(ProbePhase::kFinal) &&
           probe.requested_load() == report.load();
  };
  const bool has_final_runs =
      std::any_of(report.probes().begin(), report.probes().end(), is_of_answer);
  return absl::StrCat(extreme, has_final_runs ? " load whose final runs met"
                                              : " load that met");
}

std::string DisturbanceOf(const SearchReport& report) {
  std::vector<int> numbers;
  for (const SearchProbe& probe : report.probes()) {
    if (!probe.disturbances().empty()) numbers.push_back(probe.number());
  }
  if (numbers.empty()) return "";
  return absl::StrCat("other programs disturbed ", numbers.size(), " of ",
                      report.probes_size(), " probes (",
                      absl::StrJoin(numbers, ", "),
                      "), so that the answer may describe them rather than the "
                      "system; stop them, and search again");
}

}  // namespace

std::string DoubtOf(const SearchReport& report) {
  const std::string contradiction = ContradictionOf(report);
  const std::string disturbance = DisturbanceOf(report);
  const bool has_both = !contradiction.empty() && !disturbance.empty();
  return absl::StrCat(contradiction, has_both ? "; " : "", disturbance);
}

std::optional<double> AnswerOfList(const SearchReport& report) {
  return JudgeList(report).load;
}

std::string AnswerLine(const SearchReport& report) {
  const std::string answer = SearchAnswer(report);
  return answer.empty() ? "" : absl::StrCat(NameOfAnswer(report), ": ", answer);
}

std::string LoadText(double load) {
  return load < 1000 ? absl::StrFormat("%.4g", load)
                     : absl::StrFormat("%.0f", load);
}

namespace {

std::string Bound(bool is_known, double load) {
  return is_known ? LoadText(load) : "?";
}

std::string IntervalText(const SearchReport& report) {
  return absl::StrCat(" (", Bound(report.has_min_load(), report.min_load()),
                      " to ", Bound(report.has_max_load(), report.max_load()),
                      ")");
}

}  // namespace

std::string SearchAnswer(const SearchReport& report) {
  if (!report.loads().empty()) return AnswerOfListText(report);
  if (!report.has_load()) return "";
  if (!report.has_confidence_level()) {
    return absl::StrFormat("%.6g %s", report.load(), report.load_unit());
  }
  return absl::StrFormat("%s%s %s, %s at %g %%", LoadText(report.load()),
                         IntervalText(report), report.load_unit(),
                         report.is_proven() ? "proven" : "met, not proven",
                         100 * report.confidence_level());
}

namespace {

constexpr double kBytesPerMb = 1e6;

std::string Milliseconds(double ns) {
  return absl::StrFormat("%.3f", ns / base::kNsPerMs);
}

// Minimum, mean and percentiles; empty cells if nothing was measured, and for
// percentiles among failures or of too few RPCs.
void AppendLatencies(const stats::Outcomes& outcomes,
                     std::vector<std::string>& cells) {
  constexpr double kPercents[] = {50, 90, 95, 99, 99.9};
  if (outcomes.count() == 0) {
    cells.resize(cells.size() + 2 + std::size(kPercents));
    return;
  }
  const stats::LogHistogram& latency = outcomes.latency_ns;
  if (latency.count() == 0) {
    cells.resize(cells.size() + 2);
  } else {
    cells.push_back(Milliseconds(static_cast<double>(latency.min())));
    cells.push_back(Milliseconds(latency.mean()));
  }
  for (const double percent : kPercents) {
    const std::optional<int64_t> value_ns =
        report::ShownPercentile(outcomes, percent);
    cells.push_back(!value_ns || *value_ns == stats::Outcomes::kFailed
                        ? ""
                        : Milliseconds(static_cast<double>(*value_ns)));
  }
}

std::string UtcTime(int64_t unix_ns) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixNanos(unix_ns),
                          absl::UTCTimeZone());
}

// `instance` counts from 1; 0 means all instances together.
std::string RowOf(const SearchReport& report, const SearchProbe& probe,
                  const RpcStatistics& statistics, int instance) {
  const int64_t duration_ns =
      std::max<int64_t>(0, statistics.last_end_timestamp_ns() -
                               statistics.first_start_timestamp_ns());
  const auto per_second = [&](int64_t amount) {
    return report::PerSecond(static_cast<double>(amount), duration_ns);
  };
  const double share =
      instance == 0 ? 1.0 : 1.0 / probe.instance_statistics_size();
  std::vector<std::string> cells = {
      absl::StrFormat("%.3f", base::ToSeconds(duration_ns)),
      absl::StrCat(statistics.succeeded_count()),
      LoadsAreRates(report)
          ? absl::StrFormat("%.2f", probe.requested_load() * share)
          : "",
      absl::StrFormat("%.2f", per_second(statistics.succeeded_count())),
      absl::StrCat(statistics.response_bytes()),
      absl::StrCat(statistics.request_bytes()),
      absl::StrFormat("%.2f",
                      per_second(statistics.response_bytes()) / kBytesPerMb),
      absl::StrFormat("%.2f",
                      per_second(statistics.request_bytes()) / kBytesPerMb)};
  const stats::Outcomes latency = ProbeLatency(statistics);
  const std::optional<double> failed_above =
      report::FailedAbovePercent(latency.count(), latency.failed_count);
  AppendLatencies(latency, cells);
  cells.insert(
      cells.end(),
      {absl::StrCat(probe.number()), probe.phase(), probe.outcome(),
       absl::StrCat(statistics.failed_count()),
       UtcTime(probe.start_timestamp_ns()), UtcTime(probe.end_timestamp_ns()),
       report::CsvText(absl::StrJoin(probe.measured(), "; ")),
       absl::StrFormat("%.6g", probe.requested_load()),
       instance == 0 ? "overall" : absl::StrCat(instance),
       probe.has_host_cpu_share()
           ? absl::StrFormat("%.1f", 100 * probe.host_cpu_share())
           : "",
       report::CsvText(absl::StrJoin(probe.instance_failures(), "; ")),
       failed_above ? absl::StrFormat("%.9g", *failed_above) : "",
       report.simulated() ? "1" : "0"});
  return absl::StrJoin(cells, ",") + "\n";
}

}  // namespace

std::string SearchTableHeader() {
  return "duration_secs,total_queries,requested_qps,achieved_qps,"
         "total_bytes_rx,total_bytes_tx,rx_MBps,tx_MBps,min_ms,avg_ms,50p_ms,"
         "90p_ms,95p_ms,99p_ms,99.9p_ms,"
         "probe,phase,outcome,failed,start_utc,end_utc,measured,load,instance,"
         "host_cpu_percent,instance_failures,failed_above_percent,simulated";
}

std::string SearchTableRows(const SearchReport& report,
                            const SearchProbe& probe) {
  std::string rows = RowOf(report, probe, probe.statistics(), 0);
  for (int i = 0; i < probe.instance_statistics_size(); ++i) {
    rows += RowOf(report, probe, probe.instance_statistics(i), i + 1);
  }
  return rows;
}

stats::Outcomes ProbeLatency(const RpcStatistics& statistics) {
  stats::Outcomes outcomes;
  stats::LogHistogram& latency_ns = outcomes.latency_ns;
  results::AddHistogram(statistics.response_time_ns(), latency_ns)
      .IgnoreError();
  if (latency_ns.count() == 0) {
    results::AddHistogram(statistics.service_time_ns(), latency_ns)
        .IgnoreError();
  }
  outcomes.failed_count = std::max<int64_t>(statistics.failed_count(), 0);
  return outcomes;
}

bool LoadsAreRates(const SearchReport& report) {
  return report.search().knob() == "rate";
}

}  // namespace distbench::search
