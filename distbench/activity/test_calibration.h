// Measures and sizes the activities of a test config on this machine.

#ifndef DISTBENCH_ACTIVITY_TEST_CALIBRATION_H_
#define DISTBENCH_ACTIVITY_TEST_CALIBRATION_H_

#include <string>

#include "absl/status/statusor.h"
#include "distbench/activity/calibration.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

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

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_TEST_CALIBRATION_H_
