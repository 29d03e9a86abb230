#include "distbench/products/history/testing/simulated_histories.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "absl/types/span.h"
#include "distbench/products/history/trends/change_points.h"

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

bool IsNear(size_t index, size_t place, size_t distance) {
  return index + distance >= place && index <= place + distance;
}

bool IsReported(const std::vector<ChangePoint>& changes, size_t place,
                size_t distance) {
  return std::any_of(changes.begin(), changes.end(),
                     [&](const ChangePoint& change) {
                       return IsNear(change.index, place, distance);
                     });
}

std::vector<ChangePoint> SpreadsOf(const std::vector<ChangePoint>& changes) {
  std::vector<ChangePoint> spreads;
  for (const ChangePoint& change : changes) {
    if (change.kind == ChangeKind::kSpread) spreads.push_back(change);
  }
  return spreads;
}

// Twice the negative logarithm of the likelihood of normal values, at the best
// mean and variance, up to a constant.
double Unlikelihood(absl::Span<const double> values) {
  return static_cast<double>(values.size()) *
         std::log(std::pow(StandardDeviationOf(values), 2));
}

// The most likely place of a change of the spread.
size_t MostLikelyPlace(absl::Span<const double> values) {
  size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = kMinSegmentPoints; i + kMinSegmentPoints <= values.size();
       ++i) {
    const double unlikelihood =
        Unlikelihood(values.first(i)) + Unlikelihood(values.subspan(i));
    if (unlikelihood >= least) continue;
    best = i;
    least = unlikelihood;
  }
  return best;
}

// Puts the changes at places with at least kMinSegment results between them.
void PlaceChanges(std::mt19937_64& random, HistoryModel& model) {
  constexpr size_t kMinSegment = 40;
  const size_t spare = model.results - 4 * kMinSegment;
  std::array<size_t, 3> shifts;
  for (size_t& shift : shifts) {
    shift = std::uniform_int_distribution<size_t>(0, spare)(random);
  }
  std::sort(shifts.begin(), shifts.end());
  model.five_percent = kMinSegment + shifts[0];
  model.ten_percent = 2 * kMinSegment + shifts[1];
  model.spread_change = 3 * kMinSegment + shifts[2];
}

void Count(const HistoryModel& model, absl::Span<const double> values,
           const std::vector<ChangePoint>& changes, DetectionPower& power) {
  const std::vector<ChangePoint> spreads = SpreadsOf(changes);
  power.found_five_percent +=
      IsReported(changes, model.five_percent, kFoundWithin);
  power.found_ten_percent +=
      IsReported(changes, model.ten_percent, kFoundWithin);
  power.found_spread += IsReported(spreads, model.spread_change, kFoundWithin);
  power.noticed_spread +=
      IsReported(spreads, model.spread_change, kNoticedWithin);
  const size_t likely =
      model.ten_percent + MostLikelyPlace(values.subspan(model.ten_percent));
  power.placed_by_likelihood +=
      IsNear(likely, model.spread_change, kFoundWithin);
  for (const ChangePoint& change : changes) {
    power.other_changes +=
        !IsNear(change.index, model.five_percent, kNoticedWithin) &&
        !IsNear(change.index, model.ten_percent, kNoticedWithin) &&
        !IsNear(change.index, model.spread_change, kNoticedWithin);
  }
}

}  // namespace

std::vector<double> SimulateHistory(const HistoryModel& model,
                                    std::mt19937_64& random) {
  std::vector<double> values;
  double noise = Draw(model.noise, random);
  for (size_t i = 0; i < model.results; ++i) {
    double level = 0.001;  // a millisecond
    if (i >= model.five_percent) level *= 1.05;
    if (i >= model.ten_percent) level *= 1.10;
    const double spread = i >= model.spread_change ? model.spread_factor : 1;
    values.push_back(level * (1 + model.variation * spread * noise));
    const double correlation = model.correlation;
    noise = correlation * noise + std::sqrt(1 - correlation * correlation) *
                                      Draw(model.noise, random);
  }
  return values;
}

DetectionPower MeasurePower(const HistoryModel& model, int histories,
                            int series_count, uint64_t seed) {
  std::mt19937_64 random(seed);
  DetectionPower power;
  for (int i = 0; i < histories; ++i) {
    HistoryModel changed = model;
    PlaceChanges(random, changed);
    const std::vector<double> values = SimulateHistory(changed, random);
    Count(changed, values, FindChanges(values, series_count).changes, power);
  }
  return power;
}

int CountFalseAlarms(const HistoryModel& model, int histories, int series_count,
                     uint64_t seed) {
  std::mt19937_64 random(seed);
  int alarms = 0;
  for (int i = 0; i < histories; ++i) {
    bool has_alarm = false;
    for (int series = 0; series < series_count; ++series) {
      has_alarm |= !FindChanges(SimulateHistory(model, random), series_count)
                        .changes.empty();
    }
    alarms += has_alarm;
  }
  return alarms;
}

}  // namespace distbench::history
