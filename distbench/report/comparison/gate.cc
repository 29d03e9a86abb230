// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/gate.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/text_scanner.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/report/comparison/metric_values.h"
#include "distbench/report/comparison/until_decided.h"
#include "distbench/stats/ratio_error.h"
#include "distbench/stats/share_interval.h"

namespace distbench::report {
namespace {

void WidenRatio(double resolution, stats::Difference& change) {
  stats::Interval& bounds = *change.interval;
  bounds.lower = std::min(bounds.lower, change.estimate / (1 + resolution));
  bounds.upper = std::max(bounds.upper, change.estimate * (1 + resolution));
}

// The share that as many independent RPCs have as the runs are worth, of which
// `rpcs` is the number together.
stats::CountedShare EffectiveShareOf(const std::vector<double>& run_shares,
                                     uint64_t rpcs, double error) {
  const double per_run =
      static_cast<double>(rpcs) / static_cast<double>(run_shares.size());
  std::vector<stats::BlockAmount> runs;
  for (const double share : run_shares) {
    runs.push_back({.amount = share * per_run, .count = per_run});
  }
  const double count = static_cast<double>(rpcs);
  return stats::EffectiveShare(
      {.amount = stats::Mean(run_shares) * count, .count = count}, runs,
      1 - 2 * error);
}

void WidenFailures(const MetricComparison& comparison, double error,
                   stats::Difference& change) {
  const stats::Interval counted =
      *stats::DifferenceOfShares(EffectiveShareOf(comparison.base_values,
                                                  comparison.base_count, error),
                                 EffectiveShareOf(comparison.next_values,
                                                  comparison.next_count, error),
                                 error)
           .interval;
  stats::Interval& bounds = *change.interval;
  bounds.lower = std::min(bounds.lower, counted.lower);
  bounds.upper = std::max(bounds.upper, counted.upper);
}

}  // namespace

stats::Difference BoundsOf(const MetricComparison& comparison, double error) {
  // A two-sided interval excludes `error` on each side.
  stats::Difference change = ChangeBetweenRuns(comparison, 1 - 2 * error);
  if (!change.interval) return change;
  if (const double resolution = ResolutionOf(comparison); resolution > 0) {
    WidenRatio(resolution, change);
  } else if (IsShareOfRpcs(comparison.metric)) {
    // Of attempts, too, which are at least as many as RPCs.
    WidenFailures(comparison, error, change);
  }
  return change;
}

namespace {

absl::Status SyntaxError(absl::string_view text, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("the condition \"", text, "\" ", problem,
                   "; write it like p99>5%, rate<-3% or my_rpc:p99.9>10%"));
}

// Returns the change as a share of the base, or as a difference of shares.
double RelativeChange(const MetricComparison& comparison, double change) {
  return IsByRatio(comparison) ? change - 1 : change;
}

// Whether a percentage says how much the metric has changed: that of values
// that are not positive does not, unless they are shares themselves.
bool HasRelativeChange(const MetricComparison& comparison) {
  return IsByRatio(comparison) || !stats::IsComparedByRatio(comparison.metric);
}

// One gate on one RPC of a test, or on the test.
struct Judgement {
  const Gate* gate;
  std::string test = {};
  std::string rpc = {};

  // Absent if the gate cannot be judged; `problem` then says why.
  const MetricComparison* comparison = nullptr;
  std::string problem = {};

  // Of the test; see TestComparison.
  std::string origins = {};
  std::optional<stats::LookPlan> look_plan = {};
};

// The gate's metric among those of an RPC or of the test; null if it is none of
// them.
const MetricComparison* FindMetric(
    const Gate& gate, const std::vector<MetricComparison>& metrics) {
  const auto found =
      std::find_if(metrics.begin(), metrics.end(), [&](const auto& comparison) {
        return IsOfSameName(comparison.metric, gate.metric);
      });
  return found == metrics.end() ? nullptr : &*found;
}

// Why a gate cannot be judged by the comparison; empty if it can.
std::string ProblemWith(const Gate& gate, const MetricComparison* comparison) {
  if (comparison == nullptr) {
    return absl::StrCat(stats::MetricName(gate.metric), " was not compared");
  }
  if (comparison->verdict == ComparisonVerdict::kNotComparable) {
    return comparison->reason;
  }
  return HasRelativeChange(*comparison)
             ? ""
             : "not all of its values are above 0, so that no percentage says "
               "how much they changed";
}

// `rpc` is empty for a metric of the test.
Judgement OnMetric(const Gate& gate, const TestComparison& test,
                   const std::string& rpc, const MetricComparison* comparison) {
  Judgement judgement = {.gate = &gate,
                         .test = test.test,
                         .rpc = rpc,
                         .problem = ProblemWith(gate, comparison),
                         .origins = test.origins,
                         .look_plan = test.look_plan};
  if (judgement.problem.empty()) judgement.comparison = comparison;
  return judgement;
}

// What a gate is about that no test has.
std::string NothingToJudge(const Gate& gate) {
  if (!stats::IsOfRpc(gate.metric)) {
    return absl::StrCat("no test measures ", stats::MetricName(gate.metric));
  }
  return gate.rpc.empty()
             ? std::string("there is no RPC to judge")
             : absl::StrCat("no test of both results has an RPC \"", gate.rpc,
                            "\"");
}

// Appends a judgement for each RPC, or each test, that the gate applies to.
void ListJudgements(const Gate& gate,
                    absl::Span<const TestComparison> comparisons,
                    std::vector<Judgement>& judgements) {
  const size_t before = judgements.size();
  for (const TestComparison& test : comparisons) {
    if (!test.not_comparable.empty()) {
      judgements.push_back({.gate = &gate,
                            .test = test.test,
                            .rpc = gate.rpc,
                            .problem = test.not_comparable});
      continue;
    }
    if (!stats::IsOfRpc(gate.metric)) {
      if (const auto* comparison = FindMetric(gate, test.metrics)) {
        judgements.push_back(OnMetric(gate, test, "", comparison));
      }
      continue;
    }
    for (const RpcComparison& rpc : test.rpcs) {
      if (!gate.rpc.empty() && gate.rpc != rpc.rpc) continue;
      judgements.push_back(
          OnMetric(gate, test, rpc.rpc, FindMetric(gate, rpc.metrics)));
    }
    for (const std::string& rpc : test.vanished_rpcs) {
      if (!gate.rpc.empty() && gate.rpc != rpc) continue;
      judgements.push_back({.gate = &gate,
                            .test = test.test,
                            .rpc = rpc,
                            .problem = "new does not have the RPC"});
    }
  }
  if (judgements.size() == before) {
    judgements.push_back(
        {.gate = &gate, .rpc = gate.rpc, .problem = NothingToJudge(gate)});
  }
}

// The limit in the form of ChangeOf(): a ratio or a difference.
double LimitOf(const Gate& gate, const MetricComparison& comparison) {
  return IsByRatio(comparison) ? 1 + gate.limit : gate.limit;
}

CheckVerdict VerdictOf(const Gate& gate, const MetricComparison& comparison,
                       const stats::Difference& change) {
  if (!change.interval) return CheckVerdict::kUndecided;
  return JudgeBounds(change.interval->lower, change.interval->upper,
                     LimitOf(gate, comparison), gate.is_upper_limit);
}

std::string ChangeText(const MetricComparison& comparison, double change) {
  return absl::StrFormat("%+.1f%s", 100 * RelativeChange(comparison, change),
                         IsByRatio(comparison) ? " %" : " percentage points");
}

// "p99 changed by +19.2 % (one-sided 95 % bounds: +15.0 % to +23.5 %)".
std::string EvidenceText(const MetricComparison& comparison,
                         const stats::Difference& change, double error) {
  std::string text =
      absl::StrCat(stats::MetricName(comparison.metric), " changed by ",
                   ChangeText(comparison, change.estimate));
  if (change.interval) {
    absl::StrAppendFormat(&text, " (one-sided %.4g %% bounds: %s to %s)",
                          100 * (1 - error),
                          ChangeText(comparison, change.interval->lower),
                          ChangeText(comparison, change.interval->upper));
  }
  return text;
}

int RunsOfEach(const MetricComparison& comparison) {
  return static_cast<int>(
      std::min(comparison.base_values.size(), comparison.next_values.size()));
}

// Says why more runs like these do not decide.
std::string ResolutionText(const stats::Metric& metric) {
  return IsShareOfRpcs(metric)
             ? "; the runs agree, but have too few RPCs: longer or more runs "
               "would decide"
             : absl::StrFormat(
                   "; the runs agree, but percentiles are known to within "
                   "%.1f %%, and the limit is that close",
                   100 * kLatencyResolution);
}

// The probability that one bound is wrong, in one look of those that share it.
class ErrorOfLooks {
 public:
  explicit ErrorOfLooks(double error) : error_(error) {}

  double At(const std::optional<stats::LookPlan>& plan, int runs) {
    if (!plan) return error_;
    std::vector<double>& levels = levels_[plan->last];
    if (levels.empty()) levels = stats::LevelsOfLooks(error_, *plan);
    return levels[std::max(0, runs - plan->first)];
  }

 private:
  const double error_;

  // By the last look of the plan: judgements share them.
  std::map<int, std::vector<double>> levels_;
};

// "52 runs of each would decide in 80 % of the cases". That is Student's power:
// bounds of shares are exact ones, which are wider.
std::string RunsText(int runs, bool is_share) {
  return is_share ? absl::StrCat("about ", runs,
                                 " runs of each or more would be needed to "
                                 "decide")
                  : absl::StrFormat(
                        "%d runs of each would decide in %.0f %% of the cases",
                        runs, 100 * stats::kPower);
}

// Says what would be needed to decide.
std::string AdviceText(const Gate& gate, const MetricComparison& comparison,
                       const std::optional<stats::LookPlan>& plan,
                       ErrorOfLooks& errors) {
  if (RunsOfEach(comparison) < 2) {
    return "; single runs do not show the usual spread: run both with "
           "--repeat=5 or more";
  }
  const auto confidence_at = [&](int runs) {
    return 1 - 2 * errors.At(plan, runs);
  };
  if (VerdictOf(gate, comparison,
                ChangeBetweenRuns(comparison,
                                  confidence_at(RunsOfEach(comparison)))) !=
      CheckVerdict::kUndecided) {
    return ResolutionText(gate.metric);
  }
  const int most = plan ? plan->last : stats::kMostRuns;
  const double limit = LimitOf(gate, comparison);
  const std::optional<int> runs =
      IsByRatio(comparison)
          ? stats::RunsToTellRatioFrom(limit, comparison.base_values,
                                       comparison.next_values, confidence_at,
                                       most)
          : stats::RunsToTellFrom(limit, comparison.base_values,
                                  comparison.next_values, confidence_at, most);
  return absl::StrCat(
      "; at this spread, ",
      runs ? RunsText(*runs, IsShareOfRpcs(gate.metric))
           : absl::StrCat("not even ", most, " runs of each would decide"));
}

void DecideByBounds(const Judgement& judgement, ErrorOfLooks& errors,
                    Check& check) {
  const Gate& gate = *judgement.gate;
  const std::optional<stats::LookPlan>& plan = judgement.look_plan;
  const int runs = RunsOfEach(*judgement.comparison);
  if (plan && runs < plan->first) {
    check.verdict = CheckVerdict::kUndecided;
    check.evidence = absl::StrCat("there are ", runs, " of at least ",
                                  plan->first, " runs of each");
    return;
  }
  const double error = errors.At(plan, runs);
  const stats::Difference change = BoundsOf(*judgement.comparison, error);
  check.verdict = VerdictOf(gate, *judgement.comparison, change);
  check.evidence = EvidenceText(*judgement.comparison, change, error);
  if (check.verdict == CheckVerdict::kUndecided) {
    check.evidence += AdviceText(gate, *judgement.comparison, plan, errors);
  }
}

Check Decide(const Judgement& judgement, ErrorOfLooks& errors) {
  const Gate& gate = *judgement.gate;
  Check check = {.test = judgement.test, .condition = gate.text};
  if (gate.rpc.empty() && !judgement.rpc.empty()) {
    check.condition = absl::StrCat(judgement.rpc, ":", gate.text);
  }
  if (judgement.comparison == nullptr) {
    check.verdict = CheckVerdict::kFail;
    check.evidence = absl::StrCat("cannot be judged: ", judgement.problem);
    return check;
  }
  DecideByBounds(judgement, errors, check);
  if (!judgement.origins.empty()) {
    absl::StrAppend(&check.evidence, "; ", judgement.origins);
  }
  return check;
}

// Divides "my_rpc:p99" into RPC and metric. The names of metrics that are not
// of RPCs, such as "metric:cpu", begin as if they were those of an RPC; with
// nothing behind it, "metric:" is still none.
base::OwnedName SplitMetric(absl::string_view name) {
  const absl::StatusOr<stats::Metric> metric = stats::ParseMetric(name);
  const bool is_of_rpc =
      metric.ok() ? stats::IsOfRpc(*metric) : name != "metric:";
  if (!is_of_rpc) return {.owner = "", .name = name};
  return base::SplitOwner(name, ':');
}

}  // namespace

absl::StatusOr<Gate> ParseGate(absl::string_view text) {
  const std::optional<base::Comparison> comparison =
      base::ParseComparison(text);
  if (!comparison) return SyntaxError(text, "has neither > nor <");
  const std::optional<double> percent = base::ParsePercent(comparison->limit);
  if (!percent) return SyntaxError(text, "does not end in a percentage");
  if (*percent <= -100) {
    return SyntaxError(text, "allows a loss of 100 % or more");
  }
  const auto [rpc, name] = SplitMetric(comparison->name);
  Gate gate;
  gate.text = std::string(text);
  gate.rpc = std::string(rpc);
  gate.is_upper_limit = comparison->sign == '>';
  gate.limit = *percent / 100;
  const absl::StatusOr<stats::Metric> metric = stats::ParseMetric(name);
  if (!metric.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the condition \"", text, "\": ", metric.status().message()));
  }
  if (!stats::IsOfRpc(*metric) && stats::HasBetter(*metric)) {
    return SyntaxError(
        text, absl::StrCat("is about ", name, ", which RPCs do not have"));
  }
  gate.metric = *metric;
  return gate;
}

absl::Status CheckRpcsOf(
    absl::Span<const Gate> gates,
    absl::Span<const DistributedSystemDescription* const> tests) {
  std::vector<std::string> rpcs;
  for (const DistributedSystemDescription* test : tests) {
    for (const auto& rpc : test->rpc_descriptions()) rpcs.push_back(rpc.name());
    for (const auto& trace : test->rpc_replay_traces()) {
      rpcs.push_back(trace.name());
    }
  }
  if (rpcs.empty()) return absl::OkStatus();
  for (const Gate& gate : gates) {
    if (gate.rpc.empty() || absl::c_linear_search(rpcs, gate.rpc)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the condition \"", gate.text, "\": no test has an RPC ",
        config::Quoted(gate.rpc), "; ", config::Suggestion(gate.rpc, rpcs)));
  }
  return absl::OkStatus();
}

void AddMetricOf(const Gate& gate, CompareOptions& options) {
  std::vector<stats::Metric>& metrics = options.metrics;
  if (!stats::IsOfRpc(gate.metric) ||
      std::find(metrics.begin(), metrics.end(), gate.metric) != metrics.end()) {
    return;
  }
  metrics.push_back(gate.metric);
}

std::vector<Check> JudgeGates(absl::Span<const Gate> gates,
                              absl::Span<const TestComparison> comparisons) {
  std::vector<Judgement> judgements;
  for (const Gate& gate : gates) {
    ListJudgements(gate, comparisons, judgements);
  }
  ErrorOfLooks errors(kGateError / static_cast<double>(judgements.size()));
  std::vector<Check> checks;
  for (const Judgement& judgement : judgements) {
    checks.push_back(Decide(judgement, errors));
  }
  return checks;
}

bool AreDecided(absl::Span<const Check> checks) {
  const auto has = [&](CheckVerdict verdict) {
    return std::any_of(checks.begin(), checks.end(), [&](const Check& check) {
      return check.verdict == verdict;
    });
  };
  return has(CheckVerdict::kFail) || !has(CheckVerdict::kUndecided);
}

}  // namespace distbench::report
