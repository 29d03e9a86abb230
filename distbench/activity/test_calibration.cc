#include "distbench/activity/test_calibration.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/activity/registry.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"

namespace distbench {

absl::StatusOr<ActivityCost> MeasureInTest(
    const DistributedSystemDescription& test, int place,
    const CostOptions& options) {
  TestSequence sequence;
  *sequence.add_tests() = test;
  const auto checked = CheckTestSequence(std::move(sequence));
  if (!checked.ok()) return checked.status();
  const Plan plan = Compile(checked->tests(0));
  const absl::StatusOr<std::unique_ptr<Activity>> activity =
      MakeActivity(plan.activities[place], plan.seed);
  if (!activity.ok()) return activity.status();
  return MeasureCost(**activity, options);
}

absl::StatusOr<SizedActivity> SizeInTest(DistributedSystemDescription& test,
                                         int place, double target_ns,
                                         double tolerance,
                                         const CostOptions& options) {
  DistributedSystemDescription candidate = test;
  const absl::StatusOr<SizedActivity> sized = SizeToTarget(
      test.activity_configs(place), target_ns, tolerance,
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
  return absl::StrCat(
      sized.changed.empty()
          ? "unchanged"
          : absl::StrJoin(sized.changed, ", ", append_setting),
      ": ", CostText(sized.cost));
}

}  // namespace distbench
