#include "distbench/report/objectives/judge_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/objectives/judgement.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench::report {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The least relative error of what has no series over time.
constexpr double kLeastError = 0.25;

double NsAt(const stats::Outcomes& outcomes, double quantile) {
  const int64_t value_ns = outcomes.ValueAtQuantile(quantile);
  return value_ns == stats::Outcomes::kFailed ? kInfinity
                                              : static_cast<double>(value_ns);
}

double ErrorOf(const ObjectiveOutcome& outcome) {
  if (!outcome.lower || !outcome.upper || *outcome.lower <= 0) {
    return kLeastError;
  }
  return std::max(kLeastError, std::log(*outcome.upper / *outcome.lower) /
                                   (2 * kErrorsPerInterval));
}

Excess ExcessOver(const config::Objective& objective, double value_ns,
                  const ObjectiveOutcome& outcome) {
  if (std::isinf(value_ns)) return {.estimate = kInfinity, .error = 0};
  const double distance = std::log(std::max(value_ns, 1.0) / objective.limit);
  return {.estimate = objective.is_upper_limit ? distance : -distance,
          .error = ErrorOf(outcome)};
}

std::string MeasuredText(const JudgedTimes& times, double value_ns) {
  const stats::Outcomes& outcomes = times.outcomes;
  const std::string failed =
      absl::StrFormat("%.3g%%", 100 * outcomes.failed_share());
  if (std::isinf(value_ns)) {
    return absl::StrCat(times.name, " failed (", failed, " of the ",
                        times.values, " failed)");
  }
  return absl::StrCat(
      times.name, absl::StrFormat(" %.3f ms", value_ns / 1e6),
      outcomes.failed_count == 0 ? "" : absl::StrCat(", ", failed, " failed"));
}

}  // namespace

ObjectiveOutcome JudgeTimes(const config::Objective& objective,
                            const JudgedTimes& times) {
  const double quantile = times.percent / 100;
  const double value_ns = NsAt(times.outcomes, quantile);
  const int64_t count = times.independent_count;
  const stats::RankInterval ranks =
      stats::OrderStatisticRanks(count, quantile, kReportConfidence);
  const auto at_rank = [&](int64_t rank) {
    return NsAt(times.outcomes,
                static_cast<double>(rank) / static_cast<double>(count));
  };
  ObjectiveOutcome outcome;
  if (ranks.lower >= 1) outcome.lower = at_rank(ranks.lower - 1);
  if (ranks.upper <= count) outcome.upper = at_rank(ranks.upper);
  outcome.excess = ExcessOver(objective, value_ns, outcome);
  outcome.service_excess = outcome.excess;
  outcome.measured = MeasuredText(times, value_ns);
  return outcome;
}

}  // namespace distbench::report
