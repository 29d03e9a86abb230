#include "distbench/activity/registry.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/activity/compress.h"
#include "distbench/activity/consume_cpu.h"
#include "distbench/activity/disk.h"
#include "distbench/activity/feature_extract.h"
#include "distbench/activity/feature_query.h"
#include "distbench/activity/infer.h"
#include "distbench/activity/page_rank.h"
#include "distbench/activity/pointer_chase.h"
#include "distbench/activity/pollute_caches.h"
#include "distbench/activity/storage.h"
#include "distbench/activity/stories.h"
#include "distbench/base/time_units.h"
#include "glog/logging.h"

namespace distbench {
namespace {

// Compiled plans have every setting of their activity, with its default where
// the config says nothing.
const ActivitySetting& Setting(const ActivityPlan& plan,
                               const std::string& name) {
  const auto setting = std::find_if(
      plan.settings.begin(), plan.settings.end(),
      [&](const ActivitySetting& other) { return other.name == name; });
  CHECK(setting != plan.settings.end())
      << plan.function << " is not compiled with " << name;
  return *setting;
}

int64_t Integer(const ActivityPlan& plan, const std::string& name) {
  return Setting(plan, name).int64_value.value();
}

const std::string& Text(const ActivityPlan& plan, const std::string& name) {
  return *Setting(plan, name).string_value;
}

int64_t DurationNs(const ActivityPlan& plan) {
  return Integer(plan, "duration_us") * kNsPerUs;
}

int Parallelism(const ActivityPlan& plan) {
  return static_cast<int>(Integer(plan, "parallelism"));
}

uint64_t Seed(const ActivityPlan& plan) { return Integer(plan, "seed"); }

FeatureExtractOptions FeatureExtractOf(const ActivityPlan& plan) {
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

PageRankOptions PageRankOf(const ActivityPlan& plan) {
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

CompressOptions CompressOf(const ActivityPlan& plan) {
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

StoriesOptions StoriesOf(const ActivityPlan& plan) {
  return {
      .stories = Integer(plan, "stories"),
      .objects = static_cast<int>(Integer(plan, "objects")),
      .actions = static_cast<int>(Integer(plan, "actions")),
      .generate = plan.function == "Serialize" && Integer(plan, "generate") > 0,
      .parallelism = Parallelism(plan),
      .seed = Seed(plan),
  };
}

PointerChaseOptions PointerChaseOf(const ActivityPlan& plan) {
  return {.bytes = Integer(plan, "bytes"),
          .hops = Integer(plan, "hops"),
          .parallelism = Parallelism(plan),
          .seed = Seed(plan)};
}

InferOptions InferOf(const ActivityPlan& plan) {
  return {.layers = Integer(plan, "layers"),
          .width = Integer(plan, "width"),
          .batch = Integer(plan, "batch"),
          .allocations = Integer(plan, "allocations"),
          .allocation_bytes = Integer(plan, "allocation_bytes"),
          .parallelism = Parallelism(plan),
          .seed = Seed(plan)};
}

int Percent(const ActivityPlan& plan, const std::string& name) {
  return static_cast<int>(Integer(plan, name));
}

bool IsDirect(const ActivityPlan& plan) { return Text(plan, "io") == "direct"; }

AccessOptions AccessOf(const ActivityPlan& plan) {
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

DiskOptions DiskOf(const ActivityPlan& plan) {
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

StorageOptions StorageOf(const ActivityPlan& plan) {
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

FeatureQueryOptions FeatureQueryOf(const ActivityPlan& plan) {
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

// An error says which activity it is about.
absl::StatusOr<std::unique_ptr<Activity>> Named(
    const ActivityPlan& plan,
    absl::StatusOr<std::unique_ptr<Activity>> activity) {
  if (activity.ok()) return activity;
  return absl::Status(activity.status().code(),
                      absl::StrCat("activity \"", plan.name, "\": ",
                                   std::string(activity.status().message())));
}

absl::Status NoMemory(const ActivityPlan& plan) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the data of activity \"", plan.name,
                   "\" takes more memory than the system has; make it "
                   "smaller"));
}

absl::StatusOr<std::unique_ptr<Activity>> Make(const ActivityPlan& plan,
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
  if (plan.function == "SpinFor") return MakeSpinFor(DurationNs(plan));
  if (plan.function == "FeatureExtract") {
    return MakeFeatureExtract(FeatureExtractOf(plan));
  }
  if (plan.function == "PageRank") return MakePageRank(PageRankOf(plan));
  if (plan.function == "Compress") return MakeCompress(CompressOf(plan));
  if (plan.function == "Decompress") return MakeDecompress(CompressOf(plan));
  if (plan.function == "Serialize") return MakeSerialize(StoriesOf(plan));
  if (plan.function == "Deserialize") return MakeDeserialize(StoriesOf(plan));
  if (plan.function == "Infer") return MakeInfer(InferOf(plan));
  if (plan.function == "Disk") return Named(plan, MakeDisk(DiskOf(plan)));
  if (plan.function == "Storage") {
    return Named(plan, MakeStorage(StorageOf(plan)));
  }
  if (plan.function == "FeatureQuery") {
    return Named(plan, MakeFeatureQuery(FeatureQueryOf(plan)));
  }
  CHECK_EQ(plan.function, "PointerChase")
      << "the catalog knows more activities";
  return MakePointerChase(PointerChaseOf(plan));
}

}  // namespace

std::optional<WaitTime> WaitTimeOf(const ActivityPlan& plan, uint64_t seed) {
  if (plan.function == "SleepFor") return WaitTime::Fixed(DurationNs(plan));
  if (plan.function != "Wait") return std::nullopt;
  const int64_t mean_ns = kNsPerUs * Integer(plan, "mean_us");
  const std::string& distribution = Text(plan, "distribution");
  if (distribution == "fixed") return WaitTime::Fixed(mean_ns);
  if (distribution == "exponential") {
    return WaitTime::Exponential(mean_ns, seed);
  }
  CHECK_EQ(distribution, "lognormal");
  return WaitTime::LogNormal(mean_ns,
                             Integer(plan, "sigma_thousandths") / 1000.0, seed);
}

absl::StatusOr<std::unique_ptr<Activity>> MakeActivity(const ActivityPlan& plan,
                                                       uint64_t seed) {
  try {
    return Make(plan, seed);
  } catch (const std::bad_alloc&) {
    return NoMemory(plan);
  } catch (const std::length_error&) {
    return NoMemory(plan);
  }
}

}  // namespace distbench
