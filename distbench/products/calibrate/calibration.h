// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Measures what iterations of activities cost on this machine, and scales
// activities to a given cost: activities that the caller makes, and those of a
// test config.

#ifndef DISTBENCH_PRODUCTS_CALIBRATE_CALIBRATION_H_
#define DISTBENCH_PRODUCTS_CALIBRATE_CALIBRATION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "distbench/activity/activity.h"
#include "proto/traffic_config.pb.h"

namespace distbench::calibrate {

// CPU time of an iteration in nanoseconds, with all its parts on one thread:
// the median and the extremes of several rounds.
struct ActivityCost {
  double median_ns = 0;
  double min_ns = 0;
  double max_ns = 0;
  int64_t iteration_count = 0;  // total of all rounds
};

struct CostOptions {
  int rounds = 5;           // at least 1
  double round_ns = 200e6;  // minimum CPU time of each round

  // Returns the CPU time of the calling thread in nanoseconds.
  std::function<int64_t()> cpu_now_ns;
};

// Runs iterations of the activity and measures all but the first.
ActivityCost MeasureCost(activity::Activity& activity,
                         const CostOptions& options);

// Measures the cost of a configured activity.
using CostFunction =
    absl::FunctionRef<absl::StatusOr<ActivityCost>(const ActivityConfig&)>;

struct SizedActivity {
  ActivityConfig config;
  ActivityCost cost;

  // The settings that were changed.
  std::vector<NamedSetting> changed;
};

// Scales an activity so that its cost is within the relative `tolerance` of
// target_ns. Changes, in proportion, those settings on which the cost depends
// almost linearly. Measures at most ten times. The error explains why the
// target cannot be reached. `activity` must be valid.
absl::StatusOr<SizedActivity> SizeToTarget(const ActivityConfig& activity,
                                           double target_ns, double tolerance,
                                           CostFunction cost);

// What test.activity_configs(place) costs. The test must be valid and
// canonical; the error says why the activity cannot be made.
absl::StatusOr<ActivityCost> MeasureInTest(
    const DistributedSystemDescription& test, int place,
    const CostOptions& options);

// Replaces test.activity_configs(place) by one that costs target_ns of CPU
// time, as SizeToTarget(), and records that in the test's attribute
// "calibration:NAME". The test is unchanged if there is an error.
absl::StatusOr<SizedActivity> SizeInTest(DistributedSystemDescription& test,
                                         int place, double target_ns,
                                         double tolerance,
                                         const CostOptions& options);

// "12.3 us CPU (12.1 to 12.9) per iteration, of 5000".
std::string CostText(const ActivityCost& cost);

// "array_size 100: 12.3 us CPU ...".
std::string SizeText(const SizedActivity& sized);

}  // namespace distbench::calibrate

#endif  // DISTBENCH_PRODUCTS_CALIBRATE_CALIBRATION_H_
