// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/human_units.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/comparison/metric_values.h"
#include "distbench/report/comparison/noise_floor.h"
#include "distbench/report/comparison/until_decided.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/stats/share_interval.h"

namespace distbench::report {
namespace {

ComparisonVerdict Judge(const MetricComparison& comparison,
                        const stats::Difference& change) {
  const stats::Metric& metric = comparison.metric;
  const ComparisonVerdict verdict =
      JudgeChange(change, IsByRatio(comparison) ? 1 : 0,
                  ResolutionOf(comparison), stats::HigherIsBetter(metric));
  const bool has_changed = verdict == ComparisonVerdict::kWorse ||
                           verdict == ComparisonVerdict::kBetter;
  return has_changed && !stats::HasBetter(metric) ? ComparisonVerdict::kDiffers
                                                  : verdict;
}

size_t CountSameRuns(absl::Span<const TestRun> base,
                     absl::Span<const TestRun> next) {
  return std::count_if(next.begin(), next.end(), [&](const TestRun& run) {
    return std::any_of(base.begin(), base.end(), [&](const TestRun& other) {
      return IsSameRun(run, other);
    });
  });
}

// The mean of the values that RatioOfMeans() or DifferenceOfMeans() uses.
double Center(const MetricComparison& comparison,
              const std::vector<double>& values) {
  return IsByRatio(comparison) ? stats::GeometricMean(values)
                               : stats::Mean(values);
}

// The runs of a test.
struct Groups {
  absl::Span<const TestRun> base;
  absl::Span<const TestRun> next;
  absl::Span<const TestRun> noise;  // empty if the noise floor is not known
};

// An RPC in the runs of a test.
struct RpcGroups {
  RpcRuns base;
  RpcRuns next;
  RpcRuns noise;
};

constexpr char kNoiseGroup[] = "the noise floor";

// The values of a metric in the runs of each group, or why there are none.
struct GroupValues {
  absl::StatusOr<std::vector<double>> base;
  absl::StatusOr<std::vector<double>> next;
  absl::StatusOr<std::vector<double>> noise;

  // See MetricComparison.
  uint64_t base_count = 0;
  uint64_t next_count = 0;
};

// Returns the noise floor of a comparison whose values are known.
std::optional<double> NoiseFloorOf(const MetricComparison& comparison,
                                   const GroupValues& values) {
  // A floor is a ratio wherever the metric's values usually have one.
  if (!values.noise.ok() ||
      stats::IsComparedByRatio(comparison.metric) != IsByRatio(comparison)) {
    return std::nullopt;
  }
  return NoiseFloor(comparison.metric, *values.noise,
                    comparison.base_values.size(),
                    comparison.next_values.size());
}

MetricComparison CompareMetric(const stats::Metric& metric,
                               const GroupValues& values) {
  MetricComparison comparison = {metric, ComparisonVerdict::kNotComparable, ""};
  for (const auto* group : {&values.base, &values.next}) {
    if (group->ok()) continue;
    comparison.reason = std::string(group->status().message());
    return comparison;
  }
  comparison.base_values = *values.base;
  comparison.next_values = *values.next;
  comparison.base_count = values.base_count;
  comparison.next_count = values.next_count;
  comparison.base = Center(comparison, comparison.base_values);
  comparison.next = Center(comparison, comparison.next_values);
  comparison.noise_floor = NoiseFloorOf(comparison, values);
  comparison.change = ChangeOf(comparison, kCompareConfidence);
  comparison.verdict = Judge(comparison, comparison.change);
  return comparison;
}

MetricComparison CompareMetricOfRpc(const stats::Metric& metric,
                                    const RpcGroups& groups,
                                    LatencyKind latency) {
  return CompareMetric(
      metric, {.base = ValuesOf("base", metric, groups.base, latency),
               .next = ValuesOf("new", metric, groups.next, latency),
               .noise = ValuesOf(kNoiseGroup, metric, groups.noise, latency),
               .base_count = CountRpcs(groups.base, latency),
               .next_count = CountRpcs(groups.next, latency)});
}

RpcComparison CompareRpc(const std::string& name, const RpcGroups& groups,
                         const std::vector<stats::Metric>& metrics) {
  const LatencyKind latency = LatencyOf({&groups.base, &groups.next});
  RpcComparison comparison = {name, std::string(LatencyName(latency)), {}};
  for (const stats::Metric& metric :
       MetricsOf(metrics, {&groups.base, &groups.next})) {
    comparison.metrics.push_back(CompareMetricOfRpc(metric, groups, latency));
  }
  comparison.distribution =
      CompareDistributions(groups.base, groups.next, latency);
  return comparison;
}

// Adds a note for each RPC that only one group has.
void CompareRpcs(const Groups& groups,
                 const std::vector<stats::Metric>& metrics,
                 TestComparison& comparison) {
  std::map<std::string, RpcRuns> base_rpcs = RpcsOf(groups.base);
  std::map<std::string, RpcRuns> next_rpcs = RpcsOf(groups.next);
  std::map<std::string, RpcRuns> noise_rpcs = RpcsOf(groups.noise);
  for (auto& [name, base_runs] : base_rpcs) {
    const auto found = next_rpcs.find(name);
    if (found == next_rpcs.end()) {
      comparison.notes.push_back(absl::StrCat(name, " is in base only"));
      comparison.vanished_rpcs.push_back(name);
      continue;
    }
    comparison.rpcs.push_back(CompareRpc(name,
                                         {.base = std::move(base_runs),
                                          .next = std::move(found->second),
                                          .noise = std::move(noise_rpcs[name])},
                                         metrics));
  }
  for (const auto& [name, runs] : next_rpcs) {
    if (base_rpcs.count(name) == 0) {
      comparison.notes.push_back(absl::StrCat(name, " is in new only"));
    }
  }
}

// The same of what products measure of whole runs. The reason why new has no
// values may be that its metric is another one than base's.
GroupValues ValuesOfRuns(const stats::Metric& metric,
                         const RunMetricsOfRuns& base,
                         const RunMetricsOfRuns& next,
                         const RunMetricsOfRuns& noise) {
  GroupValues values = {.base = ValuesOf("base", metric, base),
                        .next = ValuesOf("new", metric, next),
                        .noise = ValuesOf(kNoiseGroup, metric, noise)};
  if (!values.base.ok()) return values;
  const auto require_same = [&](absl::string_view group,
                                const RunMetricsOfRuns& runs, auto& in_group) {
    if (!in_group.ok()) return;
    const std::string difference =
        DefinitionDifference(metric, base, group, runs);
    if (!difference.empty()) in_group = absl::NotFoundError(difference);
  };
  require_same("new", next, values.next);
  require_same(kNoiseGroup, noise, values.noise);
  return values;
}

void CompareRunMetrics(const Groups& groups, TestComparison& comparison) {
  const RunMetricsOfRuns base = RunMetricsOf(groups.base);
  const RunMetricsOfRuns next = RunMetricsOf(groups.next);
  const RunMetricsOfRuns noise = RunMetricsOf(groups.noise);
  for (const stats::Metric& metric : RunMetricsIn({&base, &next})) {
    comparison.metrics.push_back(
        CompareMetric(metric, ValuesOfRuns(metric, base, next, noise)));
    if (comparison.metrics.back().verdict ==
        ComparisonVerdict::kNotComparable) {
      continue;
    }
    for (const auto& [group, runs] :
         {std::pair("base", &base), std::pair("new", &next)}) {
      std::string remark = RemarkOn(group, metric, *runs);
      if (!remark.empty()) comparison.notes.push_back(std::move(remark));
    }
  }
}

// Reports the first invalid run, if any, and the reason.
void FindInvalid(absl::string_view group, const std::vector<TestRun>& runs,
                 TestComparison& comparison) {
  for (size_t i = 0; i < runs.size() && !comparison.is_invalid; ++i) {
    const std::string why = WhyNotMeasured(*runs[i].result);
    if (why.empty()) continue;
    comparison.is_invalid = true;
    comparison.not_comparable = absl::StrCat("run ", i + 1, " of ", runs.size(),
                                             " of ", group, " ", why);
  }
}

// Counts the runs of a group with each warning.
void CountWarnings(const std::vector<TestRun>& runs, int RunCounts::*group,
                   std::map<std::string, RunCounts>& warnings) {
  for (const TestRun& run : runs) {
    std::set<std::string> codes;
    for (const Finding& finding : FindingsOf(*run.result, AddUp(*run.result))) {
      if (finding.severity() == Finding::WARN) codes.insert(finding.code());
    }
    for (const std::string& code : codes) ++(warnings[code].*group);
  }
}

TestComparison CompareTest(const std::string& name,
                           const std::vector<TestRun>& base,
                           const std::vector<TestRun>& next,
                           const CompareOptions& options) {
  TestComparison comparison;
  comparison.test = name;
  if (!base.empty()) comparison.base_name = base.front().name;
  if (!next.empty()) comparison.next_name = next.front().name;
  comparison.base_runs = static_cast<int>(base.size());
  comparison.next_runs = static_cast<int>(next.size());
  if (base.empty() || next.empty()) {
    comparison.not_comparable =
        absl::StrCat("it is in ", base.empty() ? "new" : "base", " only");
    return comparison;
  }
  comparison.circumstances = CompareCircumstances(base, next);
  comparison.origins = DescribeOrigins(base, next);
  FindInvalid("base", base, comparison);
  FindInvalid("new", next, comparison);
  if (comparison.is_invalid) return comparison;

  if (MixesOrigins(base) || MixesOrigins(next)) {
    comparison.not_comparable =
        absl::StrCat(MixesOrigins(base) ? "base" : "new",
                     " has real and simulated runs of it; give one kind only");
    return comparison;
  }
  for (const auto& [name, runs] :
       {std::pair("base", base), std::pair("new", next)}) {
    const std::string copies = WhyCopies(runs);
    if (copies.empty()) continue;
    comparison.not_comparable = absl::StrCat(name, " ", copies);
    return comparison;
  }
  const std::string difference = TrafficDifference(base, next);
  if (!difference.empty()) {
    if (!options.allow_different_traffic) {
      comparison.not_comparable =
          absl::StrCat("the traffic differs: ", difference);
      return comparison;
    }
    comparison.notes.push_back(
        absl::StrCat("the traffic differs: ", difference));
  }
  const auto look_plan = LookPlanOf(base, next);
  if (!look_plan.ok()) {
    comparison.not_comparable = std::string(look_plan.status().message());
    return comparison;
  }
  comparison.look_plan = *look_plan;
  if (comparison.look_plan) {
    comparison.notes.push_back(absl::StrCat(
        "repeated until decided, at most ", comparison.look_plan->last,
        " times: the bounds of conditions allow for the looks, the verdicts of "
        "the table do not"));
  }
  if (const size_t same = CountSameRuns(base, next); same > 0) {
    comparison.notes.push_back(
        absl::StrCat(same, " of ", next.size(),
                     " new runs are also among those of base: what is compared "
                     "with itself shows no change"));
  }
  const std::vector<TestRun> noise =
      FindNoiseRuns(base, options.noise_runs, comparison.notes);
  CompareRpcs({base, next, noise}, options.metrics, comparison);
  CompareRunMetrics({base, next, noise}, comparison);
  CountWarnings(base, &RunCounts::base, comparison.warnings);
  CountWarnings(next, &RunCounts::next, comparison.warnings);
  return comparison;
}

stats::CountedShare CountedShareOf(const std::vector<double>& run_shares,
                                   uint64_t rpcs) {
  const double count = static_cast<double>(rpcs);
  return {.amount = stats::Mean(run_shares) * count, .count = count};
}

bool AreAllPositive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return value > 0; });
}

}  // namespace

bool IsByRatio(const MetricComparison& comparison) {
  if (!stats::IsComparedByRatio(comparison.metric)) return false;
  return stats::HasBetter(comparison.metric) ||
         (AreAllPositive(comparison.base_values) &&
          AreAllPositive(comparison.next_values));
}

double ResolutionOf(const MetricComparison& comparison) {
  return stats::IsPercentile(comparison.metric) && IsByRatio(comparison)
             ? kLatencyResolution
             : 0;
}

ComparisonVerdict JudgeChange(const stats::Difference& change, double no_change,
                              double resolution, bool higher_is_better) {
  if (!change.interval) return ComparisonVerdict::kNotShown;
  const bool is_shown =
      change.interval->lower > no_change || change.interval->upper < no_change;
  if (!is_shown || std::abs(change.estimate - no_change) <= resolution) {
    return ComparisonVerdict::kNoDifference;
  }
  return (change.estimate > no_change) == higher_is_better
             ? ComparisonVerdict::kBetter
             : ComparisonVerdict::kWorse;
}

bool IsShareOfRpcs(const stats::Metric& metric) {
  return stats::IsOfRpc(metric) &&
         stats::UnitOf(metric) == stats::MetricUnit::kShare;
}

stats::Difference ChangeBetweenRuns(const MetricComparison& comparison,
                                    double confidence) {
  return IsByRatio(comparison)
             ? stats::RatioOfMeans(comparison.base_values,
                                   comparison.next_values, confidence)
             : stats::DifferenceOfMeans(comparison.base_values,
                                        comparison.next_values, confidence);
}

stats::Difference ChangeOf(const MetricComparison& comparison,
                           double confidence) {
  stats::Difference change = ChangeBetweenRuns(comparison, confidence);
  if (!change.interval || !IsShareOfRpcs(comparison.metric)) return change;
  const stats::Interval counted =
      *stats::DifferenceOfShares(
           CountedShareOf(comparison.base_values, comparison.base_count),
           CountedShareOf(comparison.next_values, comparison.next_count),
           (1 - confidence) / 2)
           .interval;
  change.interval->lower = std::min(change.interval->lower, counted.lower);
  change.interval->upper = std::max(change.interval->upper, counted.upper);
  return change;
}

ComparisonVerdict VerdictAt(double confidence,
                            const MetricComparison& comparison) {
  return comparison.verdict == ComparisonVerdict::kNotComparable
             ? comparison.verdict
             : Judge(comparison, ChangeOf(comparison, confidence));
}

std::vector<TestComparison> Compare(absl::Span<const TestRun> base,
                                    absl::Span<const TestRun> next,
                                    const CompareOptions& options) {
  const auto name_of = [](const TestRun& run) { return run.name; };
  const std::vector<RunGroup> base_groups = GroupRuns(base, name_of);
  const std::vector<RunGroup> next_groups = GroupRuns(next, name_of);
  std::vector<TestComparison> comparisons;
  if (base_groups.size() == 1 && next_groups.size() == 1) {
    const std::string& base_name = base_groups.front().key;
    const std::string& next_name = next_groups.front().key;
    comparisons.push_back(CompareTest(
        base_name == next_name ? base_name
                               : absl::StrCat(base_name, " and ", next_name),
        base_groups.front().runs, next_groups.front().runs, options));
    return comparisons;
  }
  std::map<std::string, std::vector<TestRun>> next_runs;
  for (const RunGroup& group : next_groups) next_runs[group.key] = group.runs;
  for (const RunGroup& group : base_groups) {
    comparisons.push_back(
        CompareTest(group.key, group.runs, next_runs[group.key], options));
    next_runs.erase(group.key);
  }
  for (const RunGroup& group : next_groups) {
    if (next_runs.contains(group.key)) {
      comparisons.push_back(CompareTest(group.key, {}, group.runs, options));
    }
  }
  return comparisons;
}

VerdictCounts CountVerdicts(absl::Span<const TestComparison> comparisons) {
  VerdictCounts counts;
  for (const TestComparison& test : comparisons) {
    for (const MetricComparison& metric : test.metrics) {
      ++counts[metric.verdict];
    }
    for (const RpcComparison& rpc : test.rpcs) {
      for (const MetricComparison& metric : rpc.metrics) {
        ++counts[metric.verdict];
      }
      if (!rpc.distribution.p_value) continue;
      ++counts.distributions;
      if (rpc.distribution.differs()) ++counts.differing_distributions;
    }
  }
  return counts;
}

namespace {

// "Warnings in 3 of 3 runs of base and 2 of 3 of new: late_sends, stalls."; the
// codes of as many runs are together. Empty if there are none.
std::string WarningsSentence(absl::Span<const TestComparison> comparisons) {
  RunCounts all;
  std::map<std::string, RunCounts> warned;
  for (const TestComparison& test : comparisons) {
    if (!test.not_comparable.empty()) continue;
    all.base += test.base_runs;
    all.next += test.next_runs;
    for (const auto& [code, runs] : test.warnings) {
      warned[code].base += runs.base;
      warned[code].next += runs.next;
    }
  }
  std::map<RunCounts, std::vector<std::string>, std::greater<>> codes_of;
  for (const auto& [code, runs] : warned) codes_of[runs].push_back(code);
  std::vector<std::string> parts;
  for (const auto& [runs, codes] : codes_of) {
    parts.push_back(absl::StrFormat(
        "in %d of %d runs of base and %d of %d of new: %s", runs.base, all.base,
        runs.next, all.next, absl::StrJoin(codes, ", ")));
  }
  return parts.empty()
             ? ""
             : absl::StrCat("Warnings ", absl::StrJoin(parts, "; "), ".");
}

}  // namespace

std::vector<std::string> Cautions(
    const VerdictCounts& counts, absl::Span<const TestComparison> comparisons) {
  std::vector<std::string> cautions;
  std::string warnings = WarningsSentence(comparisons);
  if (!warnings.empty()) cautions.push_back(std::move(warnings));
  const int judged = counts.judged() + counts.distributions;
  if (judged > 0) {
    cautions.push_back(absl::StrFormat(
        "%d verdicts. If nothing has changed, about one in %.0f says better, "
        "worse or differs by chance.",
        judged, 1 / (1 - kCompareConfidence)));
  }
  if (counts[ComparisonVerdict::kNotShown] > 0) {
    cautions.push_back(
        "Single runs cannot distinguish a change from the usual spread between "
        "runs: run both with --repeat=5 or more.");
  }
  return cautions;
}

namespace {

std::string JudgementText(const MetricComparison& comparison) {
  switch (comparison.verdict) {
    case ComparisonVerdict::kNotShown:
      return "unknown: a single run has no confidence interval";
    case ComparisonVerdict::kNotComparable:
      return absl::StrCat("not comparable: ", comparison.reason);
    default:
      return std::string(VerdictWords(VerdictName(comparison.verdict)));
  }
}

}  // namespace

std::string FormatValue(const stats::Metric& metric, double value) {
  // As other reports have them: their size is not known beforehand.
  if (!stats::HasBetter(metric)) return ValueText(stats::UnitOf(metric), value);
  switch (stats::UnitOf(metric)) {
    case stats::MetricUnit::kNs:
      return base::HumanDuration(value);
    case stats::MetricUnit::kPerSecond:
      return base::HumanRate(value);
    case stats::MetricUnit::kRatio:
    case stats::MetricUnit::kNumber:
      return absl::StrFormat("%.3f", value);
    case stats::MetricUnit::kBytes:
      return base::HumanBytes(value);
    case stats::MetricUnit::kShare:
      return absl::StrFormat("%.3f %%", 100 * value);
  }
  return "";
}

std::string FormatChange(const MetricComparison& comparison, double change) {
  if (IsByRatio(comparison)) return absl::StrFormat("x%.3f", change);
  if (stats::UnitOf(comparison.metric) == stats::MetricUnit::kShare) {
    return absl::StrFormat("%+.3f pp", 100 * change);
  }
  return absl::StrCat(change < 0 ? "-" : "+",
                      FormatValue(comparison.metric, std::abs(change)));
}

std::string FormatInterval(const MetricComparison& comparison) {
  const auto& interval = comparison.change.interval;
  if (!interval) return "-";
  return absl::StrCat(FormatChange(comparison, interval->lower), " to ",
                      FormatChange(comparison, interval->upper));
}

absl::string_view VerdictName(ComparisonVerdict verdict) {
  constexpr absl::string_view kNames[kComparisonVerdicts] = {
      "worse",     "better",        "differs",
      "not shown", "no difference", "not comparable"};
  return kNames[static_cast<size_t>(verdict)];
}

absl::string_view VerdictWords(absl::string_view verdict_name) {
  return verdict_name == VerdictName(ComparisonVerdict::kNoDifference)
             ? "no difference shown"
             : verdict_name;
}

bool IsBeyondNoise(const MetricComparison& comparison) {
  const double noise_floor = *comparison.noise_floor;
  const double change = comparison.change.estimate;
  if (!IsByRatio(comparison)) {
    return std::abs(change) > noise_floor;
  }
  return std::abs(std::log(change)) > std::log1p(noise_floor);
}

std::string VerdictText(const MetricComparison& comparison) {
  const std::string text = JudgementText(comparison);
  if (!comparison.noise_floor) return text;
  return absl::StrCat(text, "; ",
                      IsBeyondNoise(comparison) ? "beyond" : "within",
                      " the noise floor of ",
                      NoiseText(comparison.metric, *comparison.noise_floor));
}

namespace {

// The width of the column of names.
int NameWidth(const std::vector<MetricComparison>& metrics) {
  size_t width = 8;
  for (const MetricComparison& comparison : metrics) {
    width = std::max(width, stats::MetricName(comparison.metric).size());
  }
  return static_cast<int>(width);
}

void AppendMetric(const MetricComparison& comparison, int name_width,
                  std::string& text) {
  const std::string name = stats::MetricName(comparison.metric);
  if (comparison.verdict == ComparisonVerdict::kNotComparable) {
    absl::StrAppendFormat(&text, "    %-*s %12s %12s %10s  %-22s %s\n",
                          name_width, name, "-", "-", "-", "-",
                          VerdictText(comparison));
    return;
  }
  absl::StrAppendFormat(&text, "    %-*s %12s %12s %10s  %-22s %s\n",
                        name_width, name,
                        FormatValue(comparison.metric, comparison.base),
                        FormatValue(comparison.metric, comparison.next),
                        FormatChange(comparison, comparison.change.estimate),
                        FormatInterval(comparison), VerdictText(comparison));
}

void AppendTable(const std::vector<MetricComparison>& metrics,
                 std::string& text) {
  const int name_width = NameWidth(metrics);
  absl::StrAppendFormat(
      &text, "    %-*s %12s %12s %10s  %-22s %s\n", name_width, "", "base",
      "new", "change",
      absl::StrFormat("%.0f %% interval", 100 * kCompareConfidence), "verdict");
  for (const MetricComparison& comparison : metrics) {
    AppendMetric(comparison, name_width, text);
  }
}

void AppendDistribution(const DistributionChange& change, std::string& text) {
  text += "    distribution: ";
  if (!change.p_value) {
    absl::StrAppend(&text, "unknown: ", change.reason, "\n");
    return;
  }
  absl::StrAppendFormat(
      &text,
      "%s (p = %.2g by exchanging runs; quantiles are %.1f %% apart on "
      "average)\n",
      change.differs() ? "differs" : "no difference shown", *change.p_value,
      100 * change.distance);
}

std::string Runs(int count) {
  return absl::StrCat(count, count == 1 ? " run" : " runs");
}

void AppendTest(const TestComparison& test, std::string& text) {
  absl::StrAppend(&text, "Test: ", test.test, " (base: ", Runs(test.base_runs),
                  ", new: ", Runs(test.next_runs), ")\n");
  if (!test.origins.empty()) {
    absl::StrAppend(&text, "  note: ", test.origins, "\n");
  }
  if (!test.not_comparable.empty()) {
    absl::StrAppend(&text, "  not comparable: ", test.not_comparable, "\n");
  }
  for (const std::string& note : test.notes) {
    absl::StrAppend(&text, "  note: ", note, "\n");
  }
  for (const Circumstance& circumstance : test.circumstances) {
    if (!circumstance.differs()) continue;
    absl::StrAppend(
        &text, "  note: ", DescribeCircumstance(circumstance, "new"), "\n");
  }
  for (const RpcComparison& rpc : test.rpcs) {
    absl::StrAppend(&text, "  ", rpc.rpc, ", ", rpc.latency, ":\n");
    AppendTable(rpc.metrics, text);
    AppendDistribution(rpc.distribution, text);
  }
  if (test.metrics.empty()) return;
  absl::StrAppend(&text, "  ", kRunMetricsTitle, ":\n");
  AppendTable(test.metrics, text);
}

}  // namespace

std::string DescribeComparisons(absl::Span<const TestComparison> comparisons) {
  std::string text;
  for (const TestComparison& test : comparisons) AppendTest(test, text);
  for (const std::string& caution :
       Cautions(CountVerdicts(comparisons), comparisons)) {
    absl::StrAppend(&text, caution, "\n");
  }
  return text;
}

}  // namespace distbench::report
