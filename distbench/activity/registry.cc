// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/registry.h"

#include <new>
#include <stdexcept>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/activity/compress.h"
#include "distbench/activity/compute.h"
#include "distbench/activity/feature_extract.h"
#include "distbench/activity/memory_access.h"
#include "distbench/activity/page_rank.h"
#include "distbench/activity/storage.h"
#include "distbench/activity/stories.h"
#include "distbench/base/time_units.h"
#include "glog/logging.h"

namespace distbench::activity {
namespace {

const config::SettingValue& Setting(const config::ActivityPlan& plan,
                                    const std::string& name) {
  const auto setting = plan.settings.find(name);
  CHECK(setting != plan.settings.end())
      << plan.function << " is not compiled with " << name;
  return setting->second;
}

}  // namespace

int64_t Integer(const config::ActivityPlan& plan, const std::string& name) {
  return std::get<int64_t>(Setting(plan, name));
}

const std::string& Text(const config::ActivityPlan& plan,
                        const std::string& name) {
  return std::get<std::string>(Setting(plan, name));
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

namespace {

int64_t DurationNs(const config::ActivityPlan& plan) {
  return Integer(plan, "duration_us") * base::kNsPerUs;
}

FeatureExtractOptions FeatureExtractOf(const config::ActivityPlan& plan) {
  return {
      .hash_lookups = Integer(plan, "hash_lookups"),
      .hash_entries = Integer(plan, "hash_entries"),
      .tree_walks = Integer(plan, "tree_walks"),
      .tree_nodes = Integer(plan, "tree_nodes"),
      .bitset_intersections = Integer(plan, "bitset_intersections"),
      .bitset_bits = Integer(plan, "bitset_bits"),
      .embedding_rows_gathered = Integer(plan, "embedding_rows_gathered"),
      .embedding_rows = Integer(plan, "embedding_rows"),
      .embedding_dimension = Integer(plan, "embedding_dimension"),
      .function_calls = Integer(plan, "function_calls"),
      .parallelism = Parallelism(plan),
      .seed = Seed(plan),
  };
}

PageRankOptions PageRankOf(const config::ActivityPlan& plan) {
  return {
      .nodes = Integer(plan, "nodes"),
      .degree = static_cast<int>(Integer(plan, "degree")),
      .iterations = static_cast<int>(Integer(plan, "iterations")),
      .damping = static_cast<double>(Integer(plan, "damping_percent")) / 100,
      .nodes_per_iteration = Integer(plan, "nodes_per_iteration"),
      .share_graph = Text(plan, "graph") == "shared",
      .parallelism = Parallelism(plan),
      .seed = Seed(plan),
  };
}

CompressOptions CompressOf(const config::ActivityPlan& plan) {
  return {
      .algorithm = Text(plan, "algorithm"),
      .level = static_cast<int>(Integer(plan, "level")),
      .bytes = Integer(plan, "bytes"),
      .parallelism = Parallelism(plan),
      .corpus = {.bytes = Integer(plan, "corpus_bytes"),
                 .entropy_percent =
                     static_cast<int>(Integer(plan, "entropy_percent")),
                 .repeated_percent =
                     static_cast<int>(Integer(plan, "repeated_percent")),
                 .seed = Seed(plan)},
  };
}

StoriesOptions StoriesOf(const config::ActivityPlan& plan) {
  return {
      .stories = Integer(plan, "stories"),
      .objects = static_cast<int>(Integer(plan, "objects")),
      .actions = static_cast<int>(Integer(plan, "actions")),
      .generate = plan.function == "Serialize" && Integer(plan, "generate") > 0,
      .parallelism = Parallelism(plan),
      .seed = Seed(plan),
  };
}

PointerChaseOptions PointerChaseOf(const config::ActivityPlan& plan) {
  return {.bytes = Integer(plan, "bytes"),
          .hops = Integer(plan, "hops"),
          .parallelism = Parallelism(plan),
          .seed = Seed(plan)};
}

InferOptions InferOf(const config::ActivityPlan& plan) {
  return {.layers = Integer(plan, "layers"),
          .width = Integer(plan, "width"),
          .batch = Integer(plan, "batch"),
          .allocations = Integer(plan, "allocations"),
          .allocation_bytes = Integer(plan, "allocation_bytes"),
          .parallelism = Parallelism(plan),
          .seed = Seed(plan)};
}

absl::Status NoMemory(const config::ActivityPlan& plan) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the data of activity \"", plan.name,
                   "\" takes more memory than the system has; make it "
                   "smaller"));
}

using Made = absl::StatusOr<std::unique_ptr<Activity>>;

ActivityMakers WorkMakers() {
  return {
      {"ConsumeCpu",
       {[](const config::ActivityPlan& plan, uint64_t seed) -> Made {
         return MakeConsumeCpu(Integer(plan, "array_size"), seed);
       }}},
      {"PolluteDataCache",
       {[](const config::ActivityPlan& plan, uint64_t seed) -> Made {
         return MakePolluteDataCache(Integer(plan, "array_size"),
                                     Integer(plan, "array_reads_per_iteration"),
                                     seed);
       }}},
      {"PolluteInstructionCache",
       {[](const config::ActivityPlan& plan, uint64_t seed) -> Made {
         return MakePolluteInstructionCache(
             Integer(plan, "function_invocations_per_iteration"), seed);
       }}},
      {"SpinFor", {[](const config::ActivityPlan& plan, uint64_t) -> Made {
         return MakeSpinFor(DurationNs(plan));
       }}},
      {"FeatureExtract",
       {[](const config::ActivityPlan& plan, uint64_t) -> Made {
         return MakeFeatureExtract(FeatureExtractOf(plan));
       }}},
      {"PageRank", {[](const config::ActivityPlan& plan, uint64_t) -> Made {
         return MakePageRank(PageRankOf(plan));
       }}},
      {"Compress", {[](const config::ActivityPlan& plan, uint64_t) -> Made {
         return MakeCompress(CompressOf(plan));
       }}},
      {"Decompress", {[](const config::ActivityPlan& plan, uint64_t) -> Made {
         return MakeDecompress(CompressOf(plan));
       }}},
      {"Serialize", {[](const config::ActivityPlan& plan, uint64_t) -> Made {
         return MakeSerialize(StoriesOf(plan));
       }}},
      {"Deserialize", {[](const config::ActivityPlan& plan, uint64_t) -> Made {
         return MakeDeserialize(StoriesOf(plan));
       }}},
      {"Infer", {[](const config::ActivityPlan& plan, uint64_t) -> Made {
         return MakeInfer(InferOf(plan));
       }}},
      {"PointerChase", {[](const config::ActivityPlan& plan, uint64_t) -> Made {
         return MakePointerChase(PointerChaseOf(plan));
       }}},
  };
}

ActivityMakers CollectMakers() {
  ActivityMakers makers = WorkMakers();
  makers.merge(StorageMakers());
  for (const auto& [name, maker] : base::Plugins<ActivityMaker>::All()) {
    CHECK(makers.emplace(name, *maker).second)
        << "two activities are called " << name;
  }
  return makers;
}

Made Make(const config::ActivityPlan& plan, uint64_t seed) {
  static const auto* const makers = new ActivityMakers(CollectMakers());
  const auto maker = makers->find(plan.function);
  CHECK(maker != makers->end())
      << "the catalog knows more activities, as " << plan.function;
  return maker->second.make(plan, seed);
}

}  // namespace

std::optional<WaitTime> WaitTimeOf(const config::ActivityPlan& plan,
                                   uint64_t seed) {
  if (plan.function == "SleepFor") return WaitTime::Fixed(DurationNs(plan));
  if (plan.function != "Wait") return std::nullopt;
  const int64_t mean_ns = base::kNsPerUs * Integer(plan, "mean_us");
  const std::string& distribution = Text(plan, "distribution");
  if (distribution == "fixed") return WaitTime::Fixed(mean_ns);
  if (distribution == "exponential") {
    return WaitTime::Exponential(mean_ns, seed);
  }
  CHECK_EQ(distribution, "lognormal");
  return WaitTime::LogNormal(mean_ns,
                             Integer(plan, "sigma_thousandths") / 1000.0, seed);
}

absl::StatusOr<std::unique_ptr<Activity>> MakeActivity(
    const config::ActivityPlan& plan, uint64_t seed) {
  try {
    return Make(plan, seed);
  } catch (const std::bad_alloc&) {
    return NoMemory(plan);
  } catch (const std::length_error&) {
    return NoMemory(plan);
  }
}

}  // namespace distbench::activity
