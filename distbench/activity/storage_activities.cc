#include "distbench/activity/storage_activities.h"

#include <string>

#include "distbench/activity/disk.h"
#include "distbench/activity/feature_query.h"
#include "distbench/activity/plan_settings.h"
#include "distbench/activity/storage.h"

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

ActivityMakers StorageMakers() {
  return {
      {"Disk", {[](const config::ActivityPlan& plan, uint64_t) {
         return Named(plan, MakeDisk(DiskOf(plan)));
       }}},
      {"Storage", {[](const config::ActivityPlan& plan, uint64_t) {
         return Named(plan, MakeStorage(StorageOf(plan)));
       }}},
      {"FeatureQuery", {[](const config::ActivityPlan& plan, uint64_t) {
         return Named(plan, MakeFeatureQuery(FeatureQueryOf(plan)));
       }}},
  };
}

}  // namespace distbench::activity
