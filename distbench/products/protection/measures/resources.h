// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Whether protection wasted resources: what subject and antagonist used
// together, over what they could have used. docs/measuring.md ("Protection")
// explains the measure.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_MEASURES_RESOURCES_H_
#define DISTBENCH_PRODUCTS_PROTECTION_MEASURES_RESOURCES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/products/protection/measures/phases.h"
#include "proto/results.pb.h"

namespace distbench::protection {

enum class WorkResource {
  kCpuTime,        // of the nodes that both are on, in seconds
  kDeviceBytes,    // to and from block devices, by the nodes' control groups
  kActivityBytes,  // that activities count
};

inline constexpr std::array<WorkResource, 3> kWorkResources = {
    WorkResource::kCpuTime, WorkResource::kDeviceBytes,
    WorkResource::kActivityBytes};

// One of "cpu_time", "device_bytes" and "activity_bytes".
absl::string_view WorkResourceName(WorkResource resource);

// Amounts per second: CPU seconds or bytes.
struct ResourceUse {
  double used = 0;

  // What was left. Only known of CPU time.
  std::optional<double> unused;
};

// The use of one resource in two phases of a run; absent where it was not
// recorded.
struct PhaseUses {
  std::optional<ResourceUse> baseline;
  std::optional<ResourceUse> interference;
};

// By the order of kWorkResources. Nothing is present if the result has no valid
// phases.
using RunUses = std::array<PhaseUses, kWorkResources.size()>;
RunUses UsesOf(const TestResult& result);

// Amounts are means over runs, per second.
struct WorkConservation {
  WorkResource resource = WorkResource::kCpuTime;

  // What the subject uses alone (in the baselines), the antagonist alone, and
  // both together; and what was possible.
  double subject_alone = 0;
  double antagonist_alone = 0;
  double together = 0;
  double possible = 0;

  // together / possible, from 0 to 1; absent for the reason.
  std::optional<double> share;
  std::string reason;
};

// The most that the runs of a resource used per second in any phase; 0 if
// nothing was recorded.
double MostUsed(absl::Span<const RunUses> runs, size_t resource_index);

// Compares the runs of a cell with those of its antagonist alone. `most` is the
// most that was seen to be possible, for resources whose rest is unknown.
WorkConservation ConservationOf(absl::Span<const RunUses> runs,
                                absl::Span<const RunUses> antagonist_alone,
                                size_t resource_index, double most);

// The one that the antagonist alone uses most in comparison with the subject
// alone, among those with a share; nullptr if there is none.
const WorkConservation* MainConservation(
    absl::Span<const WorkConservation> all);

// What subject and antagonist used of their hosts, second by second, where they
// ran in control groups.

// Shares of the time in which some thread waited for a resource (pressure stall
// information); the highest of all groups or hosts.
struct Pressure {
  std::optional<double> cpu;
  std::optional<double> memory;
  std::optional<double> io;
};

// The sum over the groups of all instances.
struct WorkerUsage {
  std::optional<double> cpus;  // CPU seconds per second
  std::optional<double> memory_bytes;
  std::optional<double> swap_bytes;
  Pressure pressure;
};

struct SecondUsage {
  WorkerUsage subject;
  WorkerUsage antagonist;

  // Of the hosts of all nodes, also without control groups.
  Pressure host_pressure;
};

// Keyed by the number of the interval in which the middle of a sample is. Of
// several samples of a node, shares and CPUs are the mean, and memory is the
// last. Where an interval has no sample, as in runs of more than an hour, it is
// absent.
// Requires interval_ns > 0.
std::map<int64_t, SecondUsage> UsageBySecond(const TestResult& result,
                                             int64_t interval_ns);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_MEASURES_RESOURCES_H_
