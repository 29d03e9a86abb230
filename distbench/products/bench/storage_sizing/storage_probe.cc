// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/storage_sizing/storage_probe.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/products/search/judgement/measured_probe.h"
#include "distbench/products/search/knobs/knob_name.h"
#include "distbench/products/search/knobs/knobs.h"
#include "distbench/report/measurements/test_totals.h"

namespace distbench::bench {
namespace {

constexpr char kStorage[] = "Storage";

int64_t Number(const ActivityConfig& storage, const std::string& name) {
  return std::get<int64_t>(
      config::ResolveSettings(storage.activity_settings(),
                              config::FindActivity(kStorage)->settings)
          .at(name));
}

NamedSetting& Setting(const std::string& name, ActivityConfig& storage) {
  for (NamedSetting& setting : *storage.mutable_activity_settings()) {
    if (setting.name() == name) return setting;
  }
  NamedSetting& added = *storage.add_activity_settings();
  added.set_name(name);
  return added;
}

void SetNumber(const std::string& name, int64_t value,
               ActivityConfig& storage) {
  Setting(name, storage).set_int64_value(value);
}

// Iterations of the activity that one instance does at a time; 0: unknown.
int64_t PlacesOf(const DistributedSystemDescription& test,
                 const ActivityConfig& storage) {
  for (const ActivityPoolSpec& pool : test.activity_pools()) {
    if (pool.name() == storage.pool_name()) return pool.size();
  }
  return 0;
}

// Divides the footprint between files and the memory of all iterations. Each
// has at least one file, which is what is read at a time.
void SetFootprint(const DistributedSystemDescription& test, int64_t bytes,
                  ActivityConfig& storage) {
  const int64_t file_bytes = Number(storage, "file_bytes");
  const int64_t percent = Number(storage, "memory_percent");
  const int64_t memory_bytes = bytes / 100 * percent;
  SetNumber("file_set_bytes", std::max(file_bytes, bytes - memory_bytes),
            storage);
  if (percent == 0) return;
  const int64_t places = std::max<int64_t>(1, PlacesOf(test, storage));
  SetNumber("memory_bytes", std::max(file_bytes, memory_bytes / places),
            storage);
}

void SetWork(const StorageWork& work, DistributedSystemDescription& test) {
  for (ActivityConfig& activity : *test.mutable_activity_configs()) {
    if (config::ActivityFunctionOf(activity) != kStorage) continue;
    SetNumber("hash_bytes", work.hash_bytes, activity);
    SetNumber("file_bytes", work.chunk_pages * config::kFilePageBytes,
              activity);
    SetFootprint(test, work.footprint_bytes, activity);
    if (work.is_cold) {
      Setting("io", activity).set_string_value("direct");
    }
  }
}

// Turns the open loops of main lists into closed ones with one request at a
// time.
void SendOneAtATime(DistributedSystemDescription& test) {
  const std::map<std::string, int64_t> main_actions = config::MainActions(test);
  for (Action& action : *test.mutable_actions()) {
    if (!main_actions.contains(action.name()) || !config::IsOpenLoop(action))
      continue;
    Iterations& iterations = *action.mutable_iterations();
    iterations.clear_open_loop_interval_ns();
    iterations.clear_open_loop_interval_distribution();
    iterations.clear_arrivals();
    iterations.set_max_parallel_iterations(1);
  }
}

absl::Duration Measured(const search::ProbeRequest& request,
                        const SizingTiming& timing) {
  return request.length * (request.phase == search::ProbePhase::kFinal
                               ? timing.final_run
                               : timing.probe);
}

}  // namespace

absl::Status CheckSizable(const DistributedSystemDescription& test) {
  const ActivityConfig* storage = nullptr;
  for (const ActivityConfig& activity : test.activity_configs()) {
    if (config::ActivityFunctionOf(activity) != kStorage) continue;
    if (storage != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("test \"", test.name(), "\": activity_configs: \"",
                       storage->name(), "\" and \"", activity.name(),
                       "\" are both of Storage; sizing needs exactly one"));
    }
    storage = &activity;
  }
  if (storage == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "test \"", test.name(),
        "\": no activity is of Storage, which sizing changes; use a test such "
        "as that of test_builder storage_service"));
  }
  if (Number(*storage, "memory_percent") > 0 && PlacesOf(test, *storage) == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "test \"", test.name(), "\": activity_configs[\"", storage->name(),
        "\"].pool_name: is missing; sizing must know how many iterations use "
        "memory at a time"));
  }
  return search::CheckKnob({}, test);
}

absl::StatusOr<DistributedSystemDescription> SizedTest(
    const DistributedSystemDescription& test, const SizingProbe& probe,
    const SizingTiming& timing) {
  DistributedSystemDescription sized = test;
  SetWork(probe.work, sized);
  const search::ProbeTiming times = {
      .warmup = timing.warmup, .measured = Measured(probe.request, timing)};
  if (!probe.rate) {
    SendOneAtATime(sized);
    return search::ConcurrencyKnob(std::move(sized), "").At(1, times);
  }
  const absl::StatusOr<search::RateKnob> rate =
      search::RateKnob::Make(std::move(sized));
  if (!rate.ok()) return rate.status();
  return rate->At(*probe.rate, times);
}

DistributedSystemDescription WithSizes(DistributedSystemDescription test,
                                       const StorageSizes& sizes) {
  for (ActivityConfig& activity : *test.mutable_activity_configs()) {
    if (config::ActivityFunctionOf(activity) != kStorage) continue;
    if (sizes.hash_bytes) {
      SetNumber("hash_bytes", *sizes.hash_bytes, activity);
    }
    if (sizes.chunk_pages) {
      SetNumber("file_bytes", *sizes.chunk_pages * config::kFilePageBytes,
                activity);
    }
    if (sizes.footprint_bytes) {
      SetFootprint(test, *sizes.footprint_bytes, activity);
    }
  }
  return test;
}

absl::StatusOr<search::Probe> RunSizingProbe(
    const DistributedSystemDescription& test, const std::string& rpc,
    const SizingProbe& probe, const SizingTiming& timing,
    const search::TestRunner& run) {
  const absl::StatusOr<config::Objective> objective = config::ParseObjective(
      absl::StrFormat("%s p%.10g<=%.10gms", rpc, 100 * probe.quantile,
                      1e3 * probe.limit_seconds));
  if (!objective.ok()) return objective.status();
  const absl::StatusOr<DistributedSystemDescription> sized =
      SizedTest(test, probe, timing);
  if (!sized.ok()) return sized.status();
  const absl::StatusOr<TestResult> result =
      run(*sized, [](const RunTestsEvent&) { return true; });
  if (!result.ok()) return result.status();
  absl::StatusOr<search::MeasuredProbe> measured = search::MeasureProbe(
      probe.request, {*objective}, *result, report::AddUp(*result));
  if (!measured.ok()) return measured.status();
  measured->probe.seconds =
      absl::ToDoubleSeconds(Measured(probe.request, timing));
  return measured->probe;
}

}  // namespace distbench::bench
