#include "distbench/search/crossing.h"

#include <cmath>

namespace distbench {
namespace {

// Share of a measurement's distance from zero that its error is at least: how
// much a curve may deviate from its tangent.
constexpr double kCurvature = 0.15;

// Further away a measurement says nothing of the crossing.
constexpr double kMaxDistance = 1.0;

// Variance of x below which measurements are all at one place.
constexpr double kMinVariance = 1e-8;

// Keeps weights finite.
constexpr double kMinError = 1e-4;

double Weight(const Measurement& measurement) {
  const double error =
      std::hypot(measurement.error, kCurvature * measurement.y, kMinError);
  return 1 / (error * error);
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
  const double slope_error = 1 / std::sqrt(sum_xx);
  if (slope < 2 * slope_error) return std::nullopt;
  const double distance = -mean_y / slope;  // from mean_x
  return Crossing{
      .x = mean_x + distance,
      .error = std::hypot(1 / std::sqrt(sum), distance * slope_error) / slope,
      .slope = slope};
}

}  // namespace distbench
