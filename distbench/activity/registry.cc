#include "distbench/activity/registry.h"

#include <algorithm>
#include <string>

#include "distbench/activity/consume_cpu.h"
#include "distbench/activity/pollute_data_cache.h"
#include "distbench/activity/pollute_instruction_cache.h"
#include "distbench/activity/spin_for.h"
#include "glog/logging.h"

namespace distbench {
namespace {

// Compiled plans have every setting of their activity, with its default where
// the config says nothing.
int64_t Integer(const ActivityPlan& plan, const std::string& name) {
  const auto setting = std::find_if(
      plan.settings.begin(), plan.settings.end(),
      [&](const ActivitySetting& other) { return other.name == name; });
  CHECK(setting != plan.settings.end() && setting->int64_value.has_value())
      << plan.function << " is not compiled with " << name;
  return *setting->int64_value;
}

int64_t DurationNs(const ActivityPlan& plan) {
  constexpr int64_t kNsPerUs = 1000;
  return Integer(plan, "duration_us") * kNsPerUs;
}

}  // namespace

int64_t ActivityWaitNs(const ActivityPlan& plan) {
  return plan.function == "SleepFor" ? DurationNs(plan) : 0;
}

std::unique_ptr<Activity> MakeActivity(const ActivityPlan& plan,
                                       uint64_t seed) {
  if (plan.function == "ConsumeCpu") {
    return MakeConsumeCpu(Integer(plan, "array_size"), seed);
  }
  if (plan.function == "PolluteDataCache") {
    return MakePolluteDataCache(Integer(plan, "array_size"),
                                Integer(plan, "array_reads_per_iteration"),
                                seed);
  }
  if (plan.function == "PolluteInstructionCache") {
    return MakePolluteInstructionCache(
        Integer(plan, "function_invocations_per_iteration"), seed);
  }
  CHECK_EQ(plan.function, "SpinFor") << "the catalog knows more activities";
  return MakeSpinFor(DurationNs(plan));
}

}  // namespace distbench
