#include "distbench/report/objectives/judge_objective.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/plugins.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/results/walk.h"
#include "distbench/stats/metric.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {
namespace {

// The number of intervals that reports show; blocks are made of fewer.
constexpr int64_t kMaxIntervals = 1000;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The logarithm of a factor of 10,000. Missed by more is missed no more: what
// should be high and is 0 has no logarithm.
constexpr double kFarthest = 9.21;

Excess ExcessOf(const config::Objective& objective, const Estimate& estimate) {
  if (std::isinf(estimate.value)) return {.estimate = kInfinity, .error = 0};
  const double log_ratio =
      std::log(std::max(estimate.value, std::numeric_limits<double>::min()) /
               objective.limit);
  return {.estimate = std::min(
              objective.is_upper_limit ? log_ratio : -log_ratio, kFarthest),
          .error = estimate.log_error};
}

bool IsFailed(const std::optional<double>& bound) {
  return bound && std::isinf(*bound);
}

// Times without an upper bound may reach into what failed, if anything did.
bool MayHaveFailed(const config::Objective& objective,
                   const Estimate& estimate) {
  if (estimate.upper) return IsFailed(estimate.upper);
  return stats::UnitOf(objective.metric) == stats::MetricUnit::kNs &&
         estimate.failed_share > 0;
}

// `kind` is what the latencies of the RPC are.
absl::StatusOr<ObjectiveOutcome> JudgeByLatency(
    const config::Objective& objective, const RpcMeasurements& rpc,
    LatencyKind kind, double allowed_failures) {
  const stats::Metric& metric = objective.metric;
  const absl::StatusOr<Estimate> estimate = Measure(metric, rpc, kind);
  if (!estimate.ok()) return estimate.status();
  std::string measured = EstimateText(metric, *estimate);
  const bool leaves_out_failures = metric.kind == stats::Metric::Kind::kMean ||
                                   metric.kind == stats::Metric::Kind::kRate;
  // Where nothing succeeded, a mean is infinite, which says it all.
  if (leaves_out_failures && estimate->failed_share > allowed_failures &&
      std::isfinite(estimate->value)) {
    absl::StrAppend(&measured, ", more than the ",
                    ValueText(stats::MetricUnit::kShare, allowed_failures),
                    " allowed");
    return CertainMiss(*estimate, std::move(measured));
  }
  return ObjectiveOutcomeOf(objective, *estimate, std::move(measured));
}

absl::StatusOr<ObjectiveOutcome> JudgeRpc(const config::Objective& objective,
                                          const RpcMeasurements& rpc,
                                          double allowed_failures) {
  const auto judge = [&](LatencyKind kind) {
    return JudgeByLatency(objective, rpc, kind, allowed_failures);
  };
  absl::StatusOr<ObjectiveOutcome> outcome = judge(rpc.latency_kind());
  if (!outcome.ok() || !stats::IsLatency(objective.metric)) return outcome;
  const auto service = judge(LatencyKind::kService);
  if (service.ok()) outcome->service_excess = service->excess;
  return outcome;
}

absl::StatusOr<ObjectiveOutcome> JudgeCpu(const config::Objective& objective,
                                          const TestResult& result,
                                          const TestTotals& totals) {
  const absl::StatusOr<Estimate> estimate = MeasureHostCpu(result, totals);
  if (!estimate.ok()) return estimate.status();
  return ObjectiveOutcomeOf(objective, *estimate,
                            EstimateText(objective.metric, *estimate));
}

}  // namespace

absl::StatusOr<int> FindRpc(const config::Objective& objective,
                            const TestResult& result) {
  std::vector<std::string> names;
  const std::vector<int> rpcs = ListRpcs(result);
  if (objective.rpc.empty() && rpcs.size() == 1) return rpcs[0];
  for (const int rpc : rpcs) {
    names.push_back(results::RpcName(result, rpc));
    if (names.back() == objective.rpc) return rpc;
  }
  return absl::NotFoundError(absl::StrCat(
      "the objective \"", objective.text, "\" ",
      objective.rpc.empty()
          ? std::string("must say which RPC it applies to")
          : absl::StrCat("applies to \"", objective.rpc, "\", which is absent"),
      "; the test has ", absl::StrJoin(names, ", ")));
}

double AllowedFailures(const config::Objective& objective,
                       absl::Span<const config::Objective> objectives,
                       const TestResult& result) {
  const absl::StatusOr<int> rpc = FindRpc(objective, result);
  if (!rpc.ok()) return stats::kAllowedFailures;
  for (const config::Objective& other : objectives) {
    if (other.metric.kind != stats::Metric::Kind::kFailures ||
        !other.is_upper_limit) {
      continue;
    }
    const absl::StatusOr<int> other_rpc = FindRpc(other, result);
    if (other_rpc.ok() && *other_rpc == *rpc) return other.limit;
  }
  return stats::kAllowedFailures;
}

absl::StatusOr<ObjectiveOutcome> Judge(const config::Objective& objective,
                                       const TestResult& result,
                                       const TestTotals& totals,
                                       double allowed_failures) {
  if (objective.metric.kind == stats::Metric::Kind::kCpu) {
    return JudgeCpu(objective, result, totals);
  }
  for (const auto& [name, product] : base::Plugins<ObjectiveJudge>::All()) {
    if (product->judges(objective)) return product->judge(objective, result);
  }
  if (!stats::IsOfRpc(objective.metric)) {
    return absl::NotFoundError(
        absl::StrCat("the objective \"", objective.text,
                     "\" cannot be judged: it is measured by a product that "
                     "this program was built without"));
  }
  const absl::StatusOr<int> rpc = FindRpc(objective, result);
  if (!rpc.ok()) return rpc.status();
  return JudgeRpc(objective,
                  MeasurementsOf(result, totals, *rpc, kMaxIntervals),
                  allowed_failures);
}

ObjectiveOutcome ObjectiveOutcomeOf(const config::Objective& objective,
                                    const Estimate& estimate,
                                    std::string measured) {
  const Excess excess = ExcessOf(objective, estimate);
  return {.estimate = estimate,
          .excess = excess,
          .service_excess = excess,
          .measured = std::move(measured),
          .is_certain_miss = IsFailed(estimate.lower),
          .may_have_failed = MayHaveFailed(objective, estimate)};
}

ObjectiveOutcome CertainMiss(const Estimate& estimate, std::string measured) {
  const Excess excess = {.estimate = kInfinity, .error = 0};
  return {.estimate = estimate,
          .excess = excess,
          .service_excess = excess,
          .measured = std::move(measured),
          .is_certain_miss = true};
}

}  // namespace distbench::report
