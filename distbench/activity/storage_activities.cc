#include "distbench/activity/storage_activities.h"

#include <string>

#include "absl/algorithm/container.h"
#include "distbench/activity/disk.h"
#include "distbench/activity/feature_query.h"
#include "distbench/activity/plan_settings.h"
#include "distbench/activity/storage.h"
#include "distbench/config/catalogs/storage_activities.h"
#include "glog/logging.h"

namespace distbench::activity {
namespace {

int Percent(const config::ActivityPlan& plan, const std::string& name) {
  return static_cast<int>(Integer(plan, name));
}

bool IsDirect(const config::ActivityPlan& plan) {
  return Text(plan, "io") == "direct";
}

AccessOptions AccessOf(const config::ActivityPlan& plan) {
  using Kind = AccessOptions::Kind;
  const std::string& access = Text(plan, "access");
  return {
      .kind = access == "normal" ? Kind::kNormal
              : access == "zipf" ? Kind::kZipf
                                 : Kind::kUniform,
      .spread = Percent(plan, "spread_percent") / 100.0,
      .skew = static_cast<double>(Integer(plan, "skew_thousandths")) / 1000,
  };
}

DiskOptions DiskOf(const config::ActivityPlan& plan) {
  return {.name = plan.name,
          .directory = Text(plan, "directory"),
          .data_bytes = Integer(plan, "data_bytes"),
          .block_bytes = Integer(plan, "block_bytes"),
          .is_sequential = Text(plan, "order") == "sequential",
          .write_percent = Percent(plan, "write_percent"),
          .sync_every = Integer(plan, "sync_every"),
          .operations = Integer(plan, "operations"),
          .is_direct = IsDirect(plan),
          .seed = Seed(plan)};
}

StorageOptions StorageOf(const config::ActivityPlan& plan) {
  return {.name = plan.name,
          .directory = Text(plan, "directory"),
          .file_set_bytes = Integer(plan, "file_set_bytes"),
          .file_bytes = Integer(plan, "file_bytes"),
          .memory_bytes = Integer(plan, "memory_bytes"),
          .memory_percent = Percent(plan, "memory_percent"),
          .memory_write_percent = Percent(plan, "memory_write_percent"),
          .hash_bytes = Integer(plan, "hash_bytes"),
          .access = AccessOf(plan),
          .is_direct = IsDirect(plan),
          .log_bytes = Integer(plan, "log_bytes"),
          .log_capacity_bytes = Integer(plan, "log_capacity_bytes"),
          .parallelism = Parallelism(plan),
          .seed = Seed(plan)};
}

FeatureQueryOptions FeatureQueryOf(const config::ActivityPlan& plan) {
  return {.name = plan.name,
          .directory = Text(plan, "directory"),
          .rows = Integer(plan, "rows"),
          .row_bytes = Integer(plan, "row_bytes"),
          .lookups = Integer(plan, "lookups"),
          .access = AccessOf(plan),
          .is_direct = IsDirect(plan),
          .parallelism = Parallelism(plan),
          .seed = Seed(plan)};
}

}  // namespace

bool IsStorageActivity(const config::ActivityPlan& plan) {
  return absl::c_any_of(config::StorageActivities(),
                        [&plan](const config::ActivityDeclaration& activity) {
                          return activity.name == plan.function;
                        });
}

absl::StatusOr<std::unique_ptr<Activity>> MakeStorageActivity(
    const config::ActivityPlan& plan) {
  if (plan.function == "Disk") return Named(plan, MakeDisk(DiskOf(plan)));
  if (plan.function == "Storage") {
    return Named(plan, MakeStorage(StorageOf(plan)));
  }
  CHECK_EQ(plan.function, "FeatureQuery") << "IsStorageActivity() knows more";
  return Named(plan, MakeFeatureQuery(FeatureQueryOf(plan)));
}

}  // namespace distbench::activity
