#include "distbench/products/search/strategy/crossing.h"

#include <algorithm>
#include <cmath>

#include "distbench/products/search/strategy/probe.h"
#include "distbench/stats/distributions.h"

namespace distbench::search {
namespace {

// A measurement's minimum error, as a share of its distance from zero: how far
// a curve may deviate from its tangent.
constexpr double kCurvature = 0.15;

// Measurements farther away say nothing about the crossing.
constexpr double kMaxDistance = 1.0;

// Below this variance of x, all measurements are at one place.
constexpr double kMinVariance = 1e-8;

// Keeps weights finite.
constexpr double kMinError = 1e-4;

double Weight(const Measurement& measurement) {
  const double error =
      std::hypot(measurement.error, kCurvature * measurement.y, kMinError);
  return 1 / (error * error);
}

struct Scatter {
  // How much more the measurements scatter around the line than their errors
  // explain: the square root of chi-square per degree of freedom, at least 1.
  double factor = 1;

  // The standard errors from an estimate to a bound of its interval. They are
  // more if the scatter, known from few measurements, decides.
  double errors_to_bound = kErrorsToBound;
};

Scatter ScatterOf(const std::vector<Measurement>& measurements, double mean_x,
                  double mean_y, double slope) {
  double chi_square = 0;
  int freedom = -2;
  for (const Measurement& each : measurements) {
    if (std::abs(each.y) > kMaxDistance) continue;
    const double residual = each.y - mean_y - slope * (each.x - mean_x);
    chi_square += Weight(each) * residual * residual;
    ++freedom;
  }
  Scatter scatter;
  if (freedom > 0 && chi_square > freedom) {
    scatter.factor = std::sqrt(chi_square / freedom);
    scatter.errors_to_bound =
        stats::StudentTQuantile((1 + kSearchConfidence) / 2, freedom);
  }
  return scatter;
}

}  // namespace

std::optional<Crossing> FindCrossing(
    const std::vector<Measurement>& measurements) {
  double sum = 0, sum_x = 0, sum_y = 0;
  for (const Measurement& each : measurements) {
    if (std::abs(each.y) > kMaxDistance) continue;
    const double weight = Weight(each);
    sum += weight;
    sum_x += weight * each.x;
    sum_y += weight * each.y;
  }
  if (sum == 0) return std::nullopt;
  const double mean_x = sum_x / sum;
  const double mean_y = sum_y / sum;
  double sum_xx = 0, sum_xy = 0;
  for (const Measurement& each : measurements) {
    if (std::abs(each.y) > kMaxDistance) continue;
    const double weight = Weight(each);
    sum_xx += weight * (each.x - mean_x) * (each.x - mean_x);
    sum_xy += weight * (each.x - mean_x) * each.y;
  }
  if (sum_xx < kMinVariance * sum) return std::nullopt;
  const double slope = sum_xy / sum_xx;
  const Scatter scatter = ScatterOf(measurements, mean_x, mean_y, slope);
  const double slope_error = scatter.factor / std::sqrt(sum_xx);
  if (slope < 2 * slope_error) return std::nullopt;
  const double distance = -mean_y / slope;  // from mean_x
  const double error =
      std::hypot(scatter.factor / std::sqrt(sum), distance * slope_error) /
      slope;
  return Crossing{.x = mean_x + distance,
                  .error = error,
                  .slope = slope,
                  .half_width = scatter.errors_to_bound * error};
}

}  // namespace distbench::search
