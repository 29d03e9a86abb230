// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/testing/simulated_histories.h"

#include <algorithm>
#include <cmath>

#include "absl/types/span.h"
#include "distbench/products/history/trends/change_points.h"
#include "distbench/stats/median.h"

namespace distbench::history {
namespace {

// Of variance 1.
double Draw(Noise noise, std::mt19937_64& random) {
  if (noise == Noise::kNormal) {
    return std::normal_distribution<double>()(random);
  }
  constexpr double kFreedom = 3;
  return std::student_t_distribution<double>(kFreedom)(random) /
         std::sqrt(kFreedom / (kFreedom - 2));
}

// What is known after so many nights.
Trend JudgeAfter(const std::vector<double>& points, size_t nights,
                 int series_count) {
  const size_t first =
      nights > kMaxJudgedPoints ? nights - kMaxJudgedPoints : 0;
  return FindChanges(absl::MakeConstSpan(points).subspan(first, nights - first),
                     series_count);
}

bool AlarmsEver(const std::vector<double>& points, int series_count) {
  for (size_t nights = kMinJudgedPoints; nights <= points.size(); ++nights) {
    if (!JudgeAfter(points, nights, series_count).changes().empty())
      return true;
  }
  return false;
}

bool IsFound(const Trend& trend, int step_night) {
  return std::any_of(trend.changes().begin(), trend.changes().end(),
                     [&](const TrendChange& change) {
                       return std::abs(change.index() - step_night) <=
                              kPlacedWithin;
                     });
}

}  // namespace

std::vector<double> SimulateHistory(const HistoryModel& model,
                                    std::mt19937_64& random) {
  std::vector<double> points;
  double of_night = Draw(model.noise, random);
  const double kept = model.between_nights;
  for (int night = 0; night < model.nights; ++night) {
    const bool is_stepped =
        model.step_night != HistoryModel::kNever && night >= model.step_night;
    const double level = is_stepped ? 1 + model.step : 1;
    std::vector<double> values;
    for (int repeat = 0; repeat < model.repeats; ++repeat) {
      const double noise =
          std::sqrt(model.within_night) * of_night +
          std::sqrt(1 - model.within_night) * Draw(model.noise, random);
      values.push_back(level * (1 + model.variation * noise));
    }
    points.push_back(stats::Median(values));
    of_night = kept * of_night +
               std::sqrt(1 - kept * kept) * Draw(model.noise, random);
  }
  return points;
}

int CountFalseAlarms(const HistoryModel& model, int histories, int series_count,
                     uint64_t seed) {
  std::mt19937_64 random(seed);
  int alarms = 0;
  for (int i = 0; i < histories; ++i) {
    bool has_alarm = false;
    for (int series = 0; series < series_count; ++series) {
      has_alarm |= AlarmsEver(SimulateHistory(model, random), series_count);
    }
    alarms += has_alarm;
  }
  return alarms;
}

DetectionPower MeasurePower(const HistoryModel& model, int histories,
                            int series_count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> places(60, 120);
  DetectionPower power;
  for (int i = 0; i < histories; ++i) {
    HistoryModel changed = model;
    changed.step_night = places(random);
    changed.nights = changed.step_night + kFoundWithin;
    const std::vector<double> points = SimulateHistory(changed, random);
    for (int after = 1; after <= kFoundWithin; ++after) {
      const Trend trend =
          JudgeAfter(points, changed.step_night + after, series_count);
      if (!IsFound(trend, changed.step_night)) continue;
      ++power.found;
      power.nights.push_back(after);
      break;
    }
  }
  std::sort(power.nights.begin(), power.nights.end());
  return power;
}

}  // namespace distbench::history
