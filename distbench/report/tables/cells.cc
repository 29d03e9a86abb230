#include "distbench/report/tables/cells.h"

#include "distbench/stats/quantile_interval.h"

namespace distbench {

Cell QuantileCell(const OutcomesView& outcomes, double quantile) {
  if (!SupportsQuantile(outcomes.count(), quantile)) return {};
  return OutcomeCell(outcomes.ValueAtQuantile(quantile));
}

Cell OutcomeCell(int64_t value_ns) {
  if (value_ns == Outcomes::kFailed) return "failed";
  return value_ns;
}

Cell MinCell(const LogHistogram& histogram) {
  if (histogram.count() == 0) return {};
  return histogram.min();
}

Cell MeanCell(const LogHistogram& histogram) {
  if (histogram.count() == 0) return {};
  return histogram.mean();
}

Cell MaxCell(const LogHistogram& histogram) {
  if (histogram.count() == 0) return {};
  return histogram.max();
}

Cell MeanCell(const RunningMoments& moments) {
  if (moments.count == 0) return {};
  return moments.sum / static_cast<double>(moments.count);
}

Cell MaxCell(const RunningMoments& moments) {
  if (moments.count == 0) return {};
  return moments.max;
}

Cell OptionalCell(bool is_present, int64_t value) {
  return is_present ? Cell(value) : Cell();
}

std::map<std::string, const NodeResources*> NodesByName(
    const TestResult& result) {
  std::map<std::string, const NodeResources*> nodes;
  for (const auto& [name, node] :
       result.resource_usage_logs().node_resources()) {
    nodes[name] = &node;
  }
  return nodes;
}

Cell SecondsCell(int64_t duration_ns) {
  return static_cast<double>(duration_ns) / 1e9;
}

}  // namespace distbench
