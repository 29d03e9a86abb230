#include "distbench/activity/plan_settings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace distbench::activity {
namespace {

const config::ActivitySetting& Setting(const config::ActivityPlan& plan,
                                       const std::string& name) {
  const auto setting = std::find_if(
      plan.settings.begin(), plan.settings.end(),
      [&](const config::ActivitySetting& other) { return other.name == name; });
  CHECK(setting != plan.settings.end())
      << plan.function << " is not compiled with " << name;
  return *setting;
}

}  // namespace

int64_t Integer(const config::ActivityPlan& plan, const std::string& name) {
  return Setting(plan, name).int64_value.value();
}

const std::string& Text(const config::ActivityPlan& plan,
                        const std::string& name) {
  return *Setting(plan, name).string_value;
}

int Parallelism(const config::ActivityPlan& plan) {
  return static_cast<int>(Integer(plan, "parallelism"));
}

uint64_t Seed(const config::ActivityPlan& plan) {
  return Integer(plan, "seed");
}

absl::StatusOr<std::unique_ptr<Activity>> Named(
    const config::ActivityPlan& plan,
    absl::StatusOr<std::unique_ptr<Activity>> activity) {
  if (activity.ok()) return activity;
  return absl::Status(activity.status().code(),
                      absl::StrCat("activity \"", plan.name, "\": ",
                                   std::string(activity.status().message())));
}

}  // namespace distbench::activity
