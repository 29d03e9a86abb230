#ifndef DISTBENCH_REPORT_MEASUREMENTS_ACTIVITY_TOTALS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_ACTIVITY_TOTALS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench {

// Totals of an activity over instances, including the warm-up.
struct ActivityTotals {
  int64_t instance_count = 0;
  std::map<std::string, int64_t> metrics;  // sums; checksums modulo 2^64

  // Empty in results of versions that did not measure them.
  LogHistogram duration_ns;
  LogHistogram queueing_ns;

  // Ignores damaged histograms.
  void Add(const ActivityLog& log);
};

// Totals over all instances, by the activity's name.
std::map<std::string, ActivityTotals> AddUpActivities(const TestResult& result);

// Visits each instance and activity, in the order of their names.
void ForEachActivity(
    const TestResult& result,
    absl::FunctionRef<void(const std::string& instance,
                           const std::string& activity,
                           const ActivityTotals& totals)>
        visit);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_MEASUREMENTS_ACTIVITY_TOTALS_H_
