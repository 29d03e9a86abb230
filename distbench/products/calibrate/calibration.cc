// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/calibrate/calibration.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/activity/registry.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"

namespace distbench::calibrate {
namespace {

constexpr int kMaxMeasurements = 10;

// The largest factor, up or down, between consecutive measurements.
constexpr double kMaxStep = 100;

// A setting that scales an activity's cost, with its original value.
struct SizedSetting {
  std::string name;
  int64_t value;
  int64_t maximum;
};

std::vector<SizedSetting> SizedSettingsOf(const ActivityConfig& config) {
  const config::ActivityDeclaration& activity =
      *config::FindActivity(config::ActivityFunctionOf(config));
  const auto values =
      config::ResolveSettings(config.activity_settings(), activity.settings);
  std::vector<SizedSetting> settings;
  for (const config::SettingDeclaration& setting : activity.settings.settings) {
    const std::vector<std::string>& sized = activity.sized_by;
    if (std::find(sized.begin(), sized.end(), setting.name) == sized.end()) {
      continue;
    }
    // A value of 0 means "none" or "all", so it cannot be scaled.
    const int64_t value = std::get<int64_t>(values.at(setting.name));
    if (value > 0) settings.push_back({setting.name, value, setting.maximum});
  }
  return settings;
}

void SetInteger(const std::string& name, int64_t value,
                ActivityConfig& config) {
  for (NamedSetting& setting : *config.mutable_activity_settings()) {
    if (setting.name() == name) {
      setting.set_int64_value(value);
      return;
    }
  }
  NamedSetting& setting = *config.add_activity_settings();
  setting.set_name(name);
  setting.set_int64_value(value);
}

// Finds the settings' factor by measuring.
class Sizer {
 public:
  Sizer(const ActivityConfig& config, double target_ns, double tolerance,
        CostFunction cost)
      : config_(config),
        settings_(SizedSettingsOf(config)),
        target_ns_(target_ns),
        tolerance_(tolerance),
        cost_(cost) {}

  absl::StatusOr<SizedActivity> Run() {
    double factor = Clamp(1);
    for (int i = 0; i < kMaxMeasurements; ++i) {
      SizedActivity sized = Scaled(factor);
      absl::StatusOr<ActivityCost> cost = cost_(sized.config);
      if (!cost.ok()) return cost.status();
      if (IsGood(cost->median_ns)) {
        sized.cost = *cost;
        return sized;
      }
      const Point point = {factor, cost->median_ns};
      const double next = Clamp(Next(point));
      if (SameSettings(next, factor)) return Unreachable(point);
      last_ = point;
      factor = next;
    }
    return absl::FailedPreconditionError(absl::StrFormat(
        "after %d measurements, the last one is %.1f us, not within %.1f %% of "
        "%.1f us; measure on a quieter machine, for longer, or allow more",
        kMaxMeasurements, last_->cost_ns / 1e3, 100 * tolerance_,
        target_ns_ / 1e3));
  }

 private:
  struct Point {
    double factor;
    double cost_ns;
  };

  bool IsGood(double cost_ns) const {
    return std::abs(cost_ns / target_ns_ - 1) <= tolerance_;
  }

  // Follows the line through the last two points, or through the origin if
  // there is only one.
  double Next(const Point& point) const {
    double next = point.factor * target_ns_ / std::max(point.cost_ns, 1.0);
    if (last_.has_value()) {
      const double slope =
          (point.cost_ns - last_->cost_ns) / (point.factor - last_->factor);
      const double along = point.factor + (target_ns_ - point.cost_ns) / slope;
      if (slope > 0 && along > 0) next = along;
    }
    return std::clamp(next, point.factor / kMaxStep, point.factor * kMaxStep);
  }

  int64_t ValueAt(const SizedSetting& setting, double factor) const {
    const double value = static_cast<double>(setting.value) * factor;
    return std::max<int64_t>(1, std::llround(value));
  }

  // Limits the factor so that every setting stays within its range.
  double Clamp(double factor) const {
    for (const SizedSetting& setting : settings_) {
      factor = std::min(factor, static_cast<double>(setting.maximum) /
                                    static_cast<double>(setting.value));
    }
    return factor;
  }

  bool SameSettings(double one, double other) const {
    return std::all_of(
        settings_.begin(), settings_.end(), [&](const SizedSetting& setting) {
          return ValueAt(setting, one) == ValueAt(setting, other);
        });
  }

  SizedActivity Scaled(double factor) const {
    SizedActivity sized;
    sized.config = config_;
    for (const SizedSetting& setting : settings_) {
      const int64_t value = ValueAt(setting, factor);
      if (value == setting.value) continue;
      SetInteger(setting.name, value, sized.config);
      NamedSetting& changed = sized.changed.emplace_back();
      changed.set_name(setting.name);
      changed.set_int64_value(value);
    }
    return sized;
  }

  absl::Status Unreachable(const Point& point) const {
    const std::string values = absl::StrJoin(
        settings_, ", ", [&](std::string* out, const SizedSetting& setting) {
          absl::StrAppend(out, setting.name, " ",
                          ValueAt(setting, point.factor));
        });
    return absl::FailedPreconditionError(absl::StrFormat(
        "%.1f us cannot be reached: with %s an iteration costs %.1f us; "
        "change other settings first",
        target_ns_ / 1e3, values, point.cost_ns / 1e3));
  }

  const ActivityConfig& config_;
  const std::vector<SizedSetting> settings_;
  const double target_ns_;
  const double tolerance_;
  CostFunction cost_;
  std::optional<Point> last_;
};

}  // namespace

ActivityCost MeasureCost(activity::Activity& activity,
                         const CostOptions& options) {
  uint64_t iteration = 0;
  activity::DoIteration(activity, iteration++);
  std::vector<double> costs_ns;
  ActivityCost cost;
  for (int i = 0; i < options.rounds; ++i) {
    const int64_t start_ns = options.cpu_now_ns();
    int64_t count = 0;
    double elapsed_ns = 0;
    do {
      activity::DoIteration(activity, iteration++);
      ++count;
      elapsed_ns = static_cast<double>(options.cpu_now_ns() - start_ns);
    } while (elapsed_ns < options.round_ns);
    costs_ns.push_back(elapsed_ns / static_cast<double>(count));
    cost.iteration_count += count;
  }
  std::sort(costs_ns.begin(), costs_ns.end());
  cost.min_ns = costs_ns.front();
  cost.max_ns = costs_ns.back();
  const size_t middle = costs_ns.size() / 2;
  cost.median_ns = costs_ns.size() % 2 == 1
                       ? costs_ns[middle]
                       : (costs_ns[middle - 1] + costs_ns[middle]) / 2;
  return cost;
}

absl::StatusOr<SizedActivity> SizeToTarget(const ActivityConfig& activity,
                                           double target_ns, double tolerance,
                                           CostFunction cost) {
  const std::string function = config::ActivityFunctionOf(activity);
  if (config::FindActivity(function)->waits) {
    return absl::InvalidArgumentError(
        absl::StrCat(function, " waits, and takes no CPU time"));
  }
  return Sizer(activity, target_ns, tolerance, cost).Run();
}

absl::StatusOr<ActivityCost> MeasureInTest(
    const DistributedSystemDescription& test, int place,
    const CostOptions& options) {
  TestSequence sequence;
  *sequence.add_tests() = test;
  const auto checked = config::CheckTestSequence(std::move(sequence));
  if (!checked.ok()) return checked.status();
  const config::Plan plan = config::Compile(checked->tests(0));
  const absl::StatusOr<std::unique_ptr<activity::Activity>> activity =
      activity::MakeActivity(plan.activities[place], plan.seed);
  if (!activity.ok()) return activity.status();
  return MeasureCost(**activity, options);
}

absl::StatusOr<SizedActivity> SizeInTest(DistributedSystemDescription& test,
                                         int place, double target_ns,
                                         double tolerance,
                                         const CostOptions& options) {
  DistributedSystemDescription candidate = test;
  const absl::StatusOr<SizedActivity> sized =
      SizeToTarget(test.activity_configs(place), target_ns, tolerance,
                   [&](const ActivityConfig& activity) {
                     *candidate.mutable_activity_configs(place) = activity;
                     return MeasureInTest(candidate, place, options);
                   });
  if (!sized.ok()) return sized.status();
  *test.mutable_activity_configs(place) = sized->config;
  (*test.mutable_attributes())[absl::StrCat(
      "calibration:", sized->config.name())] = SizeText(*sized);
  return *sized;
}

std::string CostText(const ActivityCost& cost) {
  return absl::StrFormat("%.1f us CPU (%.1f to %.1f) per iteration, of %d",
                         cost.median_ns / 1e3, cost.min_ns / 1e3,
                         cost.max_ns / 1e3, cost.iteration_count);
}

std::string SizeText(const SizedActivity& sized) {
  const auto append_setting = [](std::string* out,
                                 const NamedSetting& setting) {
    absl::StrAppend(out, setting.name(), " ", setting.int64_value());
  };
  return absl::StrCat(sized.changed.empty()
                          ? "unchanged"
                          : absl::StrJoin(sized.changed, ", ", append_setting),
                      ": ", CostText(sized.cost));
}

}  // namespace distbench::calibrate
