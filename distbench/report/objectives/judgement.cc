#include "distbench/report/objectives/judgement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/stats/distributions.h"

namespace distbench::report {
namespace {

// How many times the variance of the share exceeds that of independent
// requests: the design effect of L. Kish, Survey Sampling, Wiley 1965, section
// 8.2. At least 1.
double DesignEffect(double share, double count,
                    absl::Span<const stats::BlockAmount> blocks) {
  if (blocks.size() < 2 || share == 0 || share == 1) return 1;
  const double independent = share * (1 - share) / count;
  return std::max(1.0, std::pow(stats::ErrorOfRatio(blocks), 2) / independent);
}

}  // namespace

Excess ExcessOf(const config::Objective& objective, double measured,
                double error) {
  const double log_ratio = std::log(
      std::max(measured, std::numeric_limits<double>::min()) / objective.limit);
  return {.estimate = objective.is_upper_limit ? log_ratio : -log_ratio,
          .error = error};
}

Judgement JudgeValue(const config::Objective& objective, double value,
                     double error) {
  const double factor = std::exp(kErrorsPerInterval * error);
  return {.excess = ExcessOf(objective, value, error),
          .lower = value / factor,
          .upper = value * factor};
}

Judgement CertainMiss(const config::Objective& objective) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double bound = objective.is_upper_limit ? infinity : 0;
  return {.excess = {.estimate = infinity, .error = 0},
          .lower = bound,
          .upper = bound};
}

Judgement JudgeShare(const config::Objective& objective, double amount,
                     double count,
                     absl::Span<const stats::BlockAmount> blocks) {
  const double share = count > 0 ? amount / count : 0;
  const double effect = DesignEffect(share, count, blocks);
  amount /= effect;
  count /= effect;
  const double square = kErrorsPerInterval * kErrorsPerInterval;
  const double center = (amount + square / 2) / (count + square);
  const double half_width = kErrorsPerInterval / (count + square) *
                            std::sqrt(amount * (1 - share) + square / 4);
  return {.excess = ExcessOf(objective, share, 1 / std::sqrt(amount + 1)),
          .lower = std::max(0.0, center - half_width),
          .upper = center + half_width};
}

double RelativeErrorOf(absl::Span<const stats::BlockAmount> blocks,
                       double ratio) {
  const double errors_to_bound = stats::StudentTQuantile(
      (1 + kReportConfidence) / 2, static_cast<double>(blocks.size()) - 1);
  return stats::ErrorOfRatio(blocks) / ratio * errors_to_bound /
         kErrorsPerInterval;
}

ObjectiveOutcome OutcomeOf(const Judgement& judgement, std::string measured) {
  return {.excess = judgement.excess,
          .lower = judgement.lower,
          .upper = judgement.upper,
          .service_excess = judgement.excess,
          .measured = std::move(measured)};
}

}  // namespace distbench::report
