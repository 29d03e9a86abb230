// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Adds the antagonists to the activities that configs may name.

#include <cstdint>
#include <memory>
#include <string>

#include "distbench/activity/registry.h"
#include "distbench/products/protection/antagonists/antagonist_activities.h"
#include "distbench/products/protection/antagonists/burn_cpu.h"
#include "distbench/products/protection/antagonists/fork_storm.h"
#include "distbench/products/protection/antagonists/grow_memory.h"
#include "distbench/products/protection/antagonists/memory_traffic.h"

namespace distbench::protection {
namespace {

using activity::ActivityPlugin;
using activity::Integer;
using activity::Named;
using activity::Text;
using config::ActivityPlan;
using Made = absl::StatusOr<std::unique_ptr<activity::Activity>>;

Arithmetic ArithmeticOf(const std::string& kind) {
  if (kind == "floating_point") return Arithmetic::kFloatingPoint;
  if (kind == "vector") return Arithmetic::kVector;
  return Arithmetic::kInteger;
}

GrowMemoryOptions GrowMemoryOf(const ActivityPlan& plan, uint64_t seed) {
  const std::string& access = Text(plan, "access");
  return {.bytes_per_iteration = Integer(plan, "bytes_per_iteration"),
          .limit_bytes = Integer(plan, "limit_bytes"),
          .restarts = Text(plan, "at_limit") == "restart",
          .hot_percent = static_cast<int>(Integer(plan, "hot_percent")),
          .reads = access != "write",
          .writes = access != "read",
          .is_compressible = Text(plan, "content") == "repeated",
          .prefers_huge_pages = Text(plan, "huge_pages") == "prefer",
          .seed = seed};
}

// The setting `bytes` or, if it is 0, the given share of the last-level cache.
absl::StatusOr<int64_t> WorkingSetBytes(const ActivityPlan& plan) {
  const int64_t bytes = Integer(plan, "bytes");
  if (bytes > 0) return bytes;
  absl::StatusOr<int64_t> cache_bytes = LastLevelCacheBytes("");
  if (!cache_bytes.ok()) return cache_bytes.status();
  return *cache_bytes * Integer(plan, "cache_percent") / 100;
}

StreamKind StreamKindOf(const std::string& access) {
  if (access == "read") return StreamKind::kRead;
  if (access == "write") return StreamKind::kWrite;
  if (access == "triad") return StreamKind::kTriad;
  return StreamKind::kCopy;
}

absl::StatusOr<std::unique_ptr<activity::Activity>> MakeStream(
    const ActivityPlan& plan, uint64_t seed) {
  const absl::StatusOr<int64_t> bytes = WorkingSetBytes(plan);
  if (!bytes.ok()) return bytes.status();
  return MakeMemoryBandwidth(
      {.kind = StreamKindOf(Text(plan, "access")),
       .bytes_per_iteration = Integer(plan, "bytes_per_iteration"),
       .bytes = *bytes,
       .seed = seed});
}

absl::StatusOr<std::unique_ptr<activity::Activity>> MakeThrash(
    const ActivityPlan& plan, uint64_t seed) {
  const absl::StatusOr<int64_t> bytes = WorkingSetBytes(plan);
  if (!bytes.ok()) return bytes.status();
  const bool is_strided = Text(plan, "order") == "strided";
  const std::string& access = Text(plan, "access");
  return MakeCacheThrash(
      {.bytes = *bytes,
       .accesses = Integer(plan, "accesses"),
       .stride_bytes = is_strided ? Integer(plan, "stride_bytes") : 0,
       .reads = access != "write",
       .writes = access != "read",
       .seed = seed});
}

ForkStormOptions ForkStormOf(const ActivityPlan& plan) {
  return {.children = Integer(plan, "children"),
          .program = Text(plan, "program") == "true" ? "/bin/true" : ""};
}

const ActivityPlugin kBurnCpu(BurnCpuActivity(), {[](const ActivityPlan& plan,
                                                     uint64_t seed) -> Made {
                                return MakeBurnCpu(
                                    ArithmeticOf(Text(plan, "kind")),
                                    Integer(plan, "operations"), seed);
                              }});

const ActivityPlugin kGrowMemory(
    GrowMemoryActivity(), {[](const ActivityPlan& plan, uint64_t seed) -> Made {
      return MakeGrowMemory(GrowMemoryOf(plan, seed));
    }});

const ActivityPlugin kMemoryBandwidth(
    MemoryBandwidthActivity(), {[](const ActivityPlan& plan, uint64_t seed) {
      return Named(plan, MakeStream(plan, seed));
    }});

const ActivityPlugin kCacheThrash(CacheThrashActivity(),
                                  {[](const ActivityPlan& plan, uint64_t seed) {
                                    return Named(plan, MakeThrash(plan, seed));
                                  }});

const ActivityPlugin kForkStorm(ForkStormActivity(),
                                {[](const ActivityPlan& plan, uint64_t) {
                                  return Named(
                                      plan, MakeForkStorm(ForkStormOf(plan)));
                                }});

}  // namespace
}  // namespace distbench::protection
