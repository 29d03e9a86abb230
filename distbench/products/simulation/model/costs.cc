// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/model/costs.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/catalogs/settings.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/engine/activity_pools/activities.h"
#include "distbench/products/simulation/model/reference_costs.h"
#include "glog/logging.h"
#include "google/protobuf/text_format.h"

namespace distbench::simulation {
namespace {

// ---- The driver -------------------------------------------------------------

constexpr char kSpinSetting[] = "spin_us";

int64_t SpinUs(const config::NamedSettings& given) {
  for (const NamedSetting& setting : given) {
    if (setting.name() == kSpinSetting) return setting.int64_value();
  }
  return config::kSpinByCpus;
}

// Adds the settings that are the driver's, rather than of a decorator that
// shares its options, and are not as they would be anyway.
void AddSettings(const config::NamedSettings& given,
                 const config::SettingsDeclaration& side,
                 std::vector<std::string>& names) {
  for (const NamedSetting& setting : given) {
    if (setting.name() == kSpinSetting) continue;
    const config::SettingDeclaration* declared =
        config::FindSetting(side, setting.name());
    const bool is_passed_through =
        !side.pass_through_prefix.empty() &&
        absl::StartsWith(setting.name(), side.pass_through_prefix);
    if (declared == nullptr && !is_passed_through) continue;
    const config::SettingValue value =
        setting.has_string_value()
            ? config::SettingValue(setting.string_value())
            : config::SettingValue(setting.int64_value());
    if (declared != nullptr && declared->default_value == value) continue;
    names.push_back(setting.name());
  }
}

// ---- Costs ------------------------------------------------------------------

const SimulatedFabric& ReferenceCosts() {
  static const SimulatedFabric* const costs = [] {
    auto* const fabric = new SimulatedFabric;
    // Part of the program, and parsed by a test.
    CHECK(google::protobuf::TextFormat::ParseFromString(
        std::string(kReferenceCostsTextproto), fabric));
    return fabric;
  }();
  return *costs;
}

// By Plan::activities: whether any instance may run it.
std::vector<bool> ActivitiesInUse(const config::Plan& plan) {
  std::vector<bool> in_use(plan.activities.size());
  // Instances of one service run the same.
  for (const config::ServicePlan& service : plan.services) {
    const std::vector<bool> of_one =
        engine::ActivitiesOfInstance(plan, service.first_instance);
    for (size_t i = 0; i < of_one.size(); ++i) {
      if (of_one[i]) in_use[i] = true;
    }
  }
  return in_use;
}

}  // namespace

UsedDriver UsedDriverOf(const DistributedSystemDescription& test,
                        const ServiceSpec& service) {
  UsedDriver used;
  const config::TestNames names(test);
  const config::DriverStack stack = config::ResolveDriverStack(
      test, names, config::OptionsOf(names, service));
  if (stack.problem || stack.drivers.empty()) return used;
  const auto [driver, options] = stack.drivers.back();
  used.name = driver->name;
  if (config::FindSetting(driver->client_settings, kSpinSetting) != nullptr ||
      config::FindSetting(driver->server_settings, kSpinSetting) != nullptr) {
    used.spin_us = std::max(SpinUs(options->client_settings()),
                            SpinUs(options->server_settings()));
  }
  AddSettings(options->client_settings(), driver->client_settings,
              used.settings);
  AddSettings(options->server_settings(), driver->server_settings,
              used.settings);
  return used;
}

absl::StatusOr<StackCosts> CostsOfDriver(const SimulatedFabric& fabric,
                                         absl::string_view driver) {
  std::vector<std::string> known;
  for (const SimulatedFabric* each : {&fabric, &ReferenceCosts()}) {
    for (const StackCosts& stack : each->stacks()) {
      if (stack.driver() == driver) return stack;
      known.push_back(stack.driver());
    }
  }
  return absl::NotFoundError(absl::StrCat(
      "nothing says what RPCs of the driver ", config::Quoted(driver),
      " cost; add them to the fabric (stacks), or use one of ",
      config::QuotedList(known, static_cast<int>(known.size()))));
}

absl::StatusOr<ActivityCosts> CostsOfActivity(const SimulatedFabric& fabric,
                                              absl::string_view activity,
                                              absl::string_view name) {
  const ActivityCosts* of_all = nullptr;
  for (const ActivityCosts& costs : fabric.activities()) {
    if (costs.activity() != activity) continue;
    if (costs.name() == name) return costs;
    if (costs.name().empty()) of_all = &costs;
  }
  if (of_all != nullptr) return *of_all;
  return absl::NotFoundError(absl::StrCat(
      config::Path("activity_configs").At(name).text(),
      ": nothing says how much CPU time an iteration takes; add to the fabric "
      "what `distbench calibrate` measures: activities { activity: ",
      config::Quoted(activity), " name: ", config::Quoted(name),
      " cpu_ns: ... }"));
}

absl::StatusOr<CostsByActivity> CostsOfActivities(const SimulatedFabric& fabric,
                                                  const config::Plan& plan) {
  CostsByActivity costs(plan.activities.size());
  std::vector<std::string> problems;
  const std::vector<bool> in_use = ActivitiesInUse(plan);
  for (size_t i = 0; i < costs.size(); ++i) {
    const config::ActivityPlan& activity = plan.activities[i];
    if (!in_use[i] || config::FindActivity(activity.function)->waits) continue;
    const absl::StatusOr<ActivityCosts> found =
        CostsOfActivity(fabric, activity.function, activity.name);
    if (found.ok()) {
      costs[i] = std::make_unique<IterationCosts>(*found);
    } else {
      problems.emplace_back(found.status().message());
    }
  }
  if (problems.empty()) return costs;
  return absl::FailedPreconditionError(absl::StrJoin(problems, "\n"));
}

// ---- Variation --------------------------------------------------------------

LognormalFactors::LognormalFactors(double sigma) {
  const boost::math::normal standard;
  double sum = 0;
  for (size_t i = 0; i < factors_.size(); ++i) {
    const double share = (i + 0.5) / factors_.size();
    factors_[i] = std::exp(sigma * boost::math::quantile(standard, share));
    sum += factors_[i];
  }
  for (double& factor : factors_) factor *= factors_.size() / sum;
}

RpcCosts::RpcCosts(const StackCosts& costs)
    : stack(costs),
      variation(costs.sigma()),
      has_batches(costs.server_receive().batch_ns() > 0 ||
                  costs.server_send().batch_ns() > 0 ||
                  costs.client_send().batch_ns() > 0 ||
                  costs.client_receive().batch_ns() > 0) {}

}  // namespace distbench::simulation
