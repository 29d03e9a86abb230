// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/text/text_summary_sections.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/measurements/engines.h"
#include "distbench/report/measurements/faults.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/median.h"

namespace distbench::report {
namespace {

// Maximum number of distinct causes per RPC. A broken run may have thousands.
constexpr int kMaxCauses = 10;

void AppendCauses(const std::string& rpc,
                  const std::map<std::string, int64_t>& causes,
                  std::vector<std::string>& lines) {
  std::vector<std::pair<std::string, int64_t>> by_count(causes.begin(),
                                                        causes.end());
  std::stable_sort(
      by_count.begin(), by_count.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; });
  const int shown = std::min<int>(by_count.size(), kMaxCauses);
  for (int i = 0; i < shown; ++i) {
    lines.push_back(absl::StrFormat("  %s: %d failed: %s", rpc,
                                    by_count[i].second, by_count[i].first));
  }
  int64_t rest = 0;
  for (int i = shown; i < by_count.size(); ++i) {
    base::SaturatingAddTo(rest, by_count[i].second);
  }
  if (rest > 0) {
    lines.push_back(absl::StrFormat("  %s: %d failed: %d more causes", rpc,
                                    rest, by_count.size() - shown));
  }
}

// Instances that stopped early, grouped by reason, because many often share
// one.
void AppendStoppedInstances(const TestResult& result,
                            std::vector<std::string>& lines) {
  std::map<std::string, std::vector<std::string>> instances_by_reason;
  for (const auto& [name, log] : result.service_logs().instance_logs()) {
    if (log.has_engine_error_message()) {
      instances_by_reason[log.engine_error_message()].push_back(name);
    }
  }
  for (auto& [reason, instances] : instances_by_reason) {
    std::sort(instances.begin(), instances.end());
    const std::string others =
        instances.size() == 1
            ? ""
            : absl::StrCat(" and ", instances.size() - 1, " more");
    lines.push_back(absl::StrFormat("  %s%s: stopped early: %s",
                                    instances.front(), others, reason));
  }
}

}  // namespace

std::string FiguresText(const stats::OutcomesView& times, TimeFigures shown) {
  std::string text;
  for (const TimeFigure& figure : shown) {
    absl::StrAppend(&text, text.empty() ? "" : " ", figure.heading, ": ");
    if (figure.percent < 0) {
      absl::StrAppendFormat(&text, "%.0fns", times.latency_ns().mean());
      continue;
    }
    const int64_t value_ns = times.ValueAtQuantile(figure.percent / 100);
    if (value_ns == stats::Outcomes::kFailed) {
      text += "failed";
    } else {
      absl::StrAppend(&text, value_ns, "ns");
    }
  }
  return text;
}

std::vector<std::string> FailureLines(const TestResult& result,
                                      const TestTotals& totals) {
  std::vector<std::string> lines;
  for (const auto& [rpc, causes] : totals.failures) {
    AppendCauses(rpc, causes, lines);
  }
  AppendStoppedInstances(result, lines);
  return lines;
}

namespace {

constexpr TimeFigure kFigures[] = {figures::kMean, figures::kP50, figures::kP90,
                                   figures::kP99, figures::kMax};

// Of attempts; their means are in the tables only.
constexpr TimeFigures kWithoutMean = TimeFigures(kFigures).subspan(1);

std::string CountAndFigures(absl::string_view name,
                            const stats::LogHistogram& times_ns,
                            TimeFigures shown) {
  return absl::StrCat(name, ": N: ", times_ns.count(), " ",
                      FiguresText(times_ns, shown));
}

// A line for each part of the time of an RPC.
void AppendParts(const std::string& rpc, const std::vector<NamedTimes>& parts,
                 std::vector<std::string>& lines) {
  for (const NamedTimes& part : parts) {
    lines.push_back(absl::StrCat(
        "  ", rpc, ": ", CountAndFigures(part.name, part.times_ns, kFigures)));
  }
}

std::string LoadText(const RpcMeasurements& rpc) {
  std::string text;
  if (rpc.offered_per_second) {
    absl::StrAppendFormat(&text, "offered: %.1f/s ", *rpc.offered_per_second);
  }
  absl::StrAppendFormat(&text, "goodput: %.1f/s requests: %d attempts: %d",
                        rpc.goodput_per_second(), rpc.attempts->request_count(),
                        rpc.attempts->attempt_count());
  if (const auto amplification = Amplification(*rpc.attempts)) {
    absl::StrAppendFormat(&text, " amplification: %.3f", *amplification);
  }
  if (const auto wasted =
          WastedShare(*rpc.attempts, rpc.totals.counts.succeeded_count)) {
    absl::StrAppendFormat(&text, " wasted: %.2f%%", 100 * *wasted);
  }
  return text;
}

// The counts that are not 0.
std::string PolicyCountsText(const PolicyStatistics& attempts) {
  const std::pair<absl::string_view, int64_t> counts[] = {
      {"retries", attempts.retry_count()},
      {"hedges", attempts.hedge_count()},
      {"hedges won", attempts.hedge_won_count()},
      {"failed attempts", attempts.failed_attempt_count()},
      {"abandoned", attempts.abandoned_attempt_count()},
      {"of these not cancelled", attempts.uncancelled_attempt_count()},
      {"refused by budget", attempts.refused_by_budget_count()},
      {"by circuit breaker", attempts.refused_by_circuit_breaker_count()},
      {"by concurrency limit", attempts.refused_by_limit_count()},
      {"circuits opened", attempts.circuit_opened_count()},
      {"not needed", attempts.not_needed_count()},
      {"without quorum", attempts.quorum_failed_count()}};
  std::string text;
  for (const auto& [name, count] : counts) {
    if (count == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : " ", name, ": ", count);
  }
  return text;
}

std::string LimitText(const ValueMoments& limit) {
  if (limit.count() == 0) return "";
  return absl::StrFormat("concurrency limit: mean: %.1f min: %d max: %d",
                         limit.sum() / static_cast<double>(limit.count()),
                         limit.min(), limit.max());
}

void AppendPolicy(const RpcMeasurements& rpc, std::vector<std::string>& lines) {
  const PolicyStatistics& attempts = *rpc.attempts;
  std::vector<std::string> texts = {LoadText(rpc), PolicyCountsText(attempts)};
  for (const auto& [name, times] :
       {std::pair("attempts", &attempts.attempt_time_ns()),
        std::pair("quorum", &attempts.quorum_time_ns())}) {
    const stats::LogHistogram times_ns = results::HistogramOf(*times);
    if (times_ns.count() > 0)
      texts.push_back(CountAndFigures(name, times_ns, kWithoutMean));
  }
  texts.push_back(LimitText(attempts.concurrency_limit()));
  for (const std::string& text : texts) {
    if (!text.empty())
      lines.push_back(absl::StrCat("  ", rpc.name, ": ", text));
  }
}

// What all windows of one fault did to one RPC.
struct FaultRecoveries {
  int window_count = 0;
  int affected_count = 0;
  int unknown_count = 0;
  int not_before_next_count = 0;
  int never_count = 0;
  double longest_observed_s = 0;  // without recovery, until the end
  std::vector<double> recovered_s;
};

void AddRecovery(const Recovery& recovery, FaultRecoveries& sum) {
  ++sum.window_count;
  switch (recovery.outcome) {
    case RecoveryOutcome::kUnaffected:
      return;
    case RecoveryOutcome::kUnknownBefore:
    case RecoveryOutcome::kTooShort:
      ++sum.unknown_count;
      return;
    case RecoveryOutcome::kRecovered:
      sum.recovered_s.push_back(*recovery.after_s);
      break;
    case RecoveryOutcome::kNotBeforeNext:
      ++sum.not_before_next_count;
      break;
    case RecoveryOutcome::kNever:
      ++sum.never_count;
      sum.longest_observed_s =
          std::max(sum.longest_observed_s, recovery.observed_s);
      break;
  }
  ++sum.affected_count;
}

std::string RecoveryText(const FaultRecoveries& sum) {
  std::string text = absl::StrFormat("times: %d lowered goodput: %d",
                                     sum.window_count, sum.affected_count);
  if (!sum.recovered_s.empty()) {
    absl::StrAppendFormat(&text, " recovered: %d (median: %.1fs max: %.1fs)",
                          sum.recovered_s.size(),
                          stats::Median(sum.recovered_s),
                          *absl::c_max_element(sum.recovered_s));
  }
  if (sum.not_before_next_count > 0) {
    absl::StrAppend(&text,
                    " not before the next fault: ", sum.not_before_next_count);
  }
  if (sum.never_count > 0) {
    absl::StrAppendFormat(&text, " never within the run: %d (%.1fs)",
                          sum.never_count, sum.longest_observed_s);
  }
  if (sum.unknown_count > 0) {
    absl::StrAppend(&text, " too short to say: ", sum.unknown_count);
  }
  return text;
}

}  // namespace

std::vector<std::string> PolicyLines(const TestResult& result,
                                     const TestTotals& totals) {
  std::vector<std::string> lines;
  if (totals.attempts.empty()) return lines;
  // Only counts and moments of single RPCs are needed.
  for (const int rpc_index : ListRpcs(result)) {
    const RpcMeasurements rpc =
        MeasurementsOf(result, totals, rpc_index, /*max_intervals=*/1);
    if (rpc.attempts) AppendPolicy(rpc, lines);
  }
  return lines;
}

std::vector<std::string> RecoveryLines(const TestResult& result) {
  std::map<std::pair<std::string, std::string>, FaultRecoveries> sums;
  for (const Recovery& recovery : RecoveriesOf(result)) {
    AddRecovery(recovery, sums[{recovery.rpc, recovery.window.fault}]);
  }
  std::vector<std::string> lines;
  for (const auto& [key, sum] : sums) {
    lines.push_back(absl::StrCat("  ", key.first, " after ", key.second, ": ",
                                 RecoveryText(sum)));
  }
  return lines;
}

namespace {

constexpr TimeFigure kWaitFigures[] = {figures::kMean, figures::kP50,
                                       figures::kP99, figures::kMax};

// Further times are only counted.
constexpr size_t kTimesShown = 5;

double SecondsSince(int64_t start_ns, int64_t time_ns) {
  return static_cast<double>(base::SaturatingSubtract(time_ns, start_ns)) / 1e9;
}

std::string TimesText(const std::vector<FaultSpan>& spans, int64_t start_ns) {
  std::string text;
  for (size_t i = 0; i < std::min(spans.size(), kTimesShown); ++i) {
    const double begin = SecondsSince(start_ns, spans[i].begin_ns);
    const double end = SecondsSince(start_ns, spans[i].end_ns);
    absl::StrAppend(&text, i == 0 ? " at: " : ", ",
                    begin == end ? absl::StrFormat("%.3fs", begin)
                                 : absl::StrFormat("%.3f-%.3fs", begin, end));
  }
  if (spans.size() > kTimesShown) {
    absl::StrAppend(&text, " and ", spans.size() - kTimesShown, " more");
  }
  return text;
}

}  // namespace

std::vector<std::string> FaultLines(const TestResult& result) {
  std::vector<std::string> lines;
  for (const PlannedFault& fault : PlannedFaultsOf(result)) {
    lines.push_back(absl::StrFormat(
        "  %s: %s: times: %d%s requests: %d connections: %d%s", fault.name,
        fault.description, fault.spans.size(),
        fault.has_more_spans ? " or more" : "", fault.request_count,
        fault.connection_count,
        TimesText(fault.spans, result.run_info().start_timestamp_ns())));
  }
  return lines;
}

std::vector<std::string> AdmissionLines(const TestResult& result) {
  std::vector<std::string> lines;
  for (const ServiceAdmission& admission : AdmissionsOf(result)) {
    std::string& line = lines.emplace_back(
        absl::StrFormat("  %s: admitted: %d refused: %d", admission.service,
                        admission.admitted_count, admission.refused_count));
    const stats::LogHistogram& wait_ns = admission.wait_ns;
    if (wait_ns.count() == 0) continue;
    absl::StrAppend(&line, " wait: ", FiguresText(wait_ns, kWaitFigures));
  }
  return lines;
}

std::vector<std::string> StreamLines(const TestResult& result,
                                     const TestTotals& totals) {
  std::vector<std::string> lines;
  for (const int rpc_index : ListRpcs(result)) {
    const std::string rpc = results::RpcName(result, rpc_index);
    const auto found = totals.streams.find(rpc);
    if (found == totals.streams.end()) continue;
    const StreamStatistics& streams = found->second;
    lines.push_back(absl::StrFormat(
        "  %s: streams: %d requests: %d (%d bytes) responses: %d (%d bytes)",
        rpc, streams.stream_count(), streams.request_messages(),
        streams.request_bytes(), streams.response_messages(),
        streams.response_bytes()));
    if (streams.unanswered_messages() > 0) {
      absl::StrAppendFormat(&lines.back(), " unanswered: %d",
                            streams.unanswered_messages());
    }
    AppendParts(rpc, StreamTimesOf(streams), lines);
  }
  return lines;
}

std::vector<std::string> EngineLines(const TestResult& result) {
  std::vector<std::string> lines;
  for (const EngineUse& use : EnginesOf(result)) {
    std::vector<std::string> services;
    for (const auto& [service, count] : use.instance_counts) {
      services.push_back(absl::StrFormat(
          "%s (%d %s)", service, count, count == 1 ? "instance" : "instances"));
    }
    lines.push_back(absl::StrCat("  ", absl::StrJoin(use.texts, "; "), ": ",
                                 absl::StrJoin(services, ", ")));
  }
  return lines;
}

std::vector<std::string> TimePartLines(const TestTotals& totals) {
  std::vector<std::string> lines;
  for (const auto& [name, rpc] : totals.rpcs) {
    AppendParts(name, TimePartsOf(rpc), lines);
  }
  return lines;
}

}  // namespace distbench::report
