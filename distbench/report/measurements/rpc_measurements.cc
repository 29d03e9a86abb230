#include "distbench/report/measurements/rpc_measurements.h"

#include "distbench/results/walk.h"

namespace distbench {
RpcMeasurements MeasurementsOf(const TestResult& result,
                               const TestTotals& totals, int rpc_index,
                               int64_t max_intervals) {
  RpcMeasurements rpc;
  rpc.name = RpcName(result, rpc_index);
  if (const auto found = totals.rpcs.find(rpc.name);
      found != totals.rpcs.end()) {
    rpc.totals = found->second;
  }
  if (const auto found = totals.failures.find(rpc.name);
      found != totals.failures.end()) {
    rpc.failures = found->second;
  }
  rpc.offered = OfferedLoadOf(result, rpc.name);
  rpc.service_time = ServiceTimeOf(rpc.totals);
  rpc.response_time = ResponseTimeOf(result, totals, rpc.name);
  rpc.series = CollectSeries(result, rpc_index, max_intervals);
  return rpc;
}

const Outcomes& RpcMeasurements::latency() const {
  return response_time.count() > 0 ? response_time : service_time;
}

std::vector<Outcomes> RpcMeasurements::latency_blocks() const {
  return response_time.count() > 0 ? ResponseTimeBlocks(series)
                                   : ServiceTimeBlocks(series);
}

std::vector<Percentile> EstimatePercentiles(
    const Outcomes& outcomes, const std::vector<Outcomes>& blocks) {
  std::vector<Percentile> percentiles;
  for (const double percent : kReportPercents) {
    const double quantile = percent / 100;
    if (!SupportsQuantile(outcomes.count(), quantile)) break;
    percentiles.push_back(
        {percent, outcomes.ValueAtQuantile(quantile),
         IntervalOfQuantile(outcomes, blocks, quantile, kReportConfidence)});
  }
  return percentiles;
}

std::string MethodName(QuantileInterval::Method method) {
  return method == QuantileInterval::Method::kBlocks ? "blocks"
                                                     : "order_statistics";
}

}  // namespace distbench
