// What iterations of activities cost on this machine, and activities made to
// cost a given time.

#ifndef DISTBENCH_ACTIVITY_CALIBRATION_H_
#define DISTBENCH_ACTIVITY_CALIBRATION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "distbench/activity/activity.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// CPU time of an iteration, all its parts on one thread, in nanoseconds: median
// and extremes of several rounds.
struct ActivityCost {
  double median_ns = 0;
  double min_ns = 0;
  double max_ns = 0;
  int64_t iteration_count = 0;  // of all rounds
};

struct CostOptions {
  int rounds = 5;            // at least 1
  double round_ns = 200e6;   // CPU time of each, at least

  // CPU time of the calling thread, in nanoseconds.
  std::function<int64_t()> cpu_now_ns;
};

// Does iterations of the activity. The first one is not measured.
ActivityCost MeasureCost(Activity& activity, const CostOptions& options);

// What an activity as configured costs.
using CostFunction =
    absl::FunctionRef<absl::StatusOr<ActivityCost>(const ActivityConfig&)>;

struct SizedActivity {
  ActivityConfig config;
  ActivityCost cost;

  // Settings that were changed.
  std::vector<NamedSetting> changed;
};

// The activity with those of its settings changed, in proportion, on which its
// cost depends nearly linearly, so that its cost is within `tolerance` of
// target_ns, relatively. Measures it up to ten times. The error says why that
// is impossible. `activity` must be valid.
absl::StatusOr<SizedActivity> SizeToTarget(const ActivityConfig& activity,
                                           double target_ns, double tolerance,
                                           CostFunction cost);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_CALIBRATION_H_
