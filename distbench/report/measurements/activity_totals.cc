#include "distbench/report/measurements/activity_totals.h"

#include <utility>

#include "distbench/results/histogram_proto.h"

namespace distbench {

void ActivityTotals::Add(const ActivityLog& log) {
  ++instance_count;
  for (const ActivityMetric& metric : log.activity_metrics()) {
    int64_t& sum = metrics[metric.name()];
    sum = static_cast<int64_t>(static_cast<uint64_t>(sum) +
                               static_cast<uint64_t>(metric.value_int()));
  }
  AddHistogram(log.duration_ns(), duration_ns).IgnoreError();
  AddHistogram(log.queueing_ns(), queueing_ns).IgnoreError();
}

std::map<std::string, ActivityTotals> AddUpActivities(
    const TestResult& result) {
  std::map<std::string, ActivityTotals> totals;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    for (const auto& [name, activity] : log.activity_logs()) {
      totals[name].Add(activity);
    }
  }
  return totals;
}

void ForEachActivity(
    const TestResult& result,
    absl::FunctionRef<void(const std::string& instance,
                           const std::string& activity,
                           const ActivityTotals& totals)>
        visit) {
  std::map<std::pair<std::string, std::string>, ActivityTotals> sorted;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    for (const auto& [name, activity] : log.activity_logs()) {
      sorted[{instance, name}].Add(activity);
    }
  }
  for (const auto& [key, totals] : sorted) {
    visit(key.first, key.second, totals);
  }
}

}  // namespace distbench
