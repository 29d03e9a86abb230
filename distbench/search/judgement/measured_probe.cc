#include "distbench/search/judgement/measured_probe.h"

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/walk.h"

namespace distbench {
namespace {

// If a smaller share of the offered load was sent, the load was a different
// one.
constexpr double kMinSentShare = 0.98;

// The share of RPCs due in open loops that were sent; 1 if it was not recorded.
double SentShare(const TestResult& result) {
  double offered = 0;
  double unsent = 0;
  for (const auto& [name, log] : result.service_logs().instance_logs()) {
    for (const auto& [rpc, load] : log.offered_loads()) {
      offered += static_cast<double>(load.offered_count());
      unsent += static_cast<double>(load.unsent_count());
    }
  }
  return offered == 0 ? 1 : 1 - unsent / offered;
}

std::string OutcomeOf(const Probe& probe) {
  if (probe.generator_limited) return kGeneratorLimitedOutcome;
  return probe.excess <= 0 ? kMetOutcome : kMissedOutcome;
}

}  // namespace

absl::StatusOr<MeasuredProbe> MeasureProbe(
    const ProbeRequest& request, absl::Span<const Objective> objectives,
    const TestResult& result) {
  if (result.run_info().has_failure()) {
    return absl::AbortedError(result.run_info().failure());
  }
  const TestTotals totals = AddUp(result);
  MeasuredProbe measured;
  bool is_first = true;
  bool service_missed = false;
  for (const Objective& objective : objectives) {
    const absl::StatusOr<ObjectiveOutcome> outcome =
        Judge(objective, result, totals,
              AllowedFailures(objective, objectives));
    if (!outcome.ok()) return outcome.status();
    measured.measured.push_back(outcome->measured);
    measured.load_of_limit.push_back(std::exp(outcome->excess.estimate));
    service_missed |= outcome->service_excess.estimate > 0;
    if (is_first || outcome->excess.estimate > measured.probe.excess) {
      measured.probe.excess = outcome->excess.estimate;
      measured.probe.excess_error = outcome->excess.error;
    }
    is_first = false;
  }
  const double sent_share = SentShare(result);
  measured.probe.request = request;
  measured.probe.achieved_load = request.load * sent_share;
  const bool missed = measured.probe.excess > 0;
  if (missed && !service_missed) {
    measured.probe.generator_limited = true;
    measured.measured.push_back(
        "the generator was late: service times alone met");
  } else if (!missed && sent_share < kMinSentShare) {
    measured.probe.generator_limited = true;
    measured.measured.push_back(
        absl::StrFormat("%.3g%% of the load was sent", 100 * sent_share));
  }
  measured.outcome = OutcomeOf(measured.probe);
  return measured;
}

RpcStatistics StatisticsOf(const TestResult& result, int rpc_index) {
  const TestTotals totals = AddUp(result);
  RpcStatistics statistics;
  const auto found = totals.rpcs.find(RpcName(result, rpc_index));
  if (found == totals.rpcs.end()) return statistics;
  found->second.Encode(statistics);
  statistics.clear_failures_by_error();  // indices of different instances
  const Outcomes response = ResponseTimeOf(result, totals, found->first);
  if (response.count() > 0) {
    statistics.set_failed_count(static_cast<int64_t>(response.failed_count));
  }
  return statistics;
}

}  // namespace distbench
