// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/judgement/measured_probe.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/objectives/objectives.h"
#include "distbench/results/run_failure.h"
#include "distbench/results/walk.h"

namespace distbench::search {
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

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Farther below the limit, a distance has no meaning: without failures, their
// share has no logarithm.
constexpr double kLowestExcess = -5;

// Growing latencies this far above the limit, as a logarithm, do not return to
// it.
constexpr double kGrownExcess = 0.5;

// The distance from the limit, as in Excess, and the bounds of its 95 %
// confidence interval.
struct Distance {
  double lower = -kInfinity;
  double estimate = -kInfinity;
  double upper = -kInfinity;
};

// The distance of a bound of the measurement; `unknown` if there is none.
double DistanceOf(const config::Objective& objective,
                  const std::optional<double>& bound, double unknown) {
  if (!bound) return unknown;
  // What is not above 0 is as far below any limit as can be.
  const double distance = std::log(std::max(*bound, 0.0) / objective.limit);
  return objective.is_upper_limit ? distance : -distance;
}

Distance DistanceOf(const config::Objective& objective,
                    const report::ObjectiveOutcome& outcome) {
  if (outcome.is_certain_miss) return {kInfinity, kInfinity, kInfinity};
  const bool is_upper = objective.is_upper_limit;
  const double lower = DistanceOf(
      objective, is_upper ? outcome.estimate.lower : outcome.estimate.upper,
      -kInfinity);
  const double upper = outcome.may_have_failed
                           ? kInfinity
                           : DistanceOf(objective,
                                        is_upper ? outcome.estimate.upper
                                                 : outcome.estimate.lower,
                                        kInfinity);
  const double estimate = std::max(outcome.excess.estimate, kLowestExcess);
  const double error = kErrorsToBound * outcome.excess.error;
  if (std::isinf(estimate)) return {lower, estimate, upper};
  return {std::min(lower, estimate - error), estimate,
          std::max(upper, estimate + error)};
}

// Adds an objective. All are met only if each of them is, so that no bound
// needs to be wider because there are several: R. L. Berger, Multiparameter
// Hypothesis Testing and Acceptance Sampling, Technometrics 24 (1982) 295-300.
// The lower bound is that of the objective that was furthest from being met.
void Add(const Distance& objective, Distance& all) {
  all.upper = std::max(all.upper, objective.upper);
  if (objective.estimate <= all.estimate) return;
  all.estimate = objective.estimate;
  all.lower = objective.lower;
}

// Sets the excess and its error towards the limit. A run whose latencies were
// still growing proves no more than a miss, and its value is not that of a
// longer run.
void SetExcess(const Distance& distance, bool has_grown, Probe& probe) {
  probe.excess = distance.estimate;
  const bool is_certain_miss =
      distance.lower > 0 || (has_grown && distance.estimate > kGrownExcess);
  if (has_grown) {
    if (is_certain_miss) probe.excess = kInfinity;
    probe.excess_error = is_certain_miss ? 0 : kInfinity;
  } else if (distance.estimate <= 0) {
    probe.excess_error = (distance.upper - distance.estimate) / kErrorsToBound;
  } else if (std::isinf(distance.estimate)) {
    probe.excess_error = is_certain_miss ? 0 : kInfinity;
  } else {
    probe.excess_error = (distance.estimate - distance.lower) / kErrorsToBound;
  }
}

// The numbers of an invalid run are false, so that it meets nothing.
void DoNotMeet(const report::InvalidCauses& causes, Probe& probe) {
  if (!Met(probe)) return;
  if (causes.requests_failed) {
    probe.excess = kInfinity;
    probe.excess_error = 0;
  } else {
    probe.generator_limited = true;
  }
}

// Whether the RPC's open loops offered fewer per second than the limit. True of
// closed loops.
bool OfferedLess(const config::Objective& objective, const TestResult& result,
                 const report::TestTotals& totals) {
  const absl::StatusOr<int> rpc = report::FindRpc(objective, result);
  if (!rpc.ok()) return false;
  const std::string name = results::RpcName(result, *rpc);
  const auto found = totals.rpcs.find(name);
  if (found == totals.rpcs.end()) return true;
  const std::optional<double> offered = report::OfferedPerSecond(
      totals.load(name), report::OfferedNs(result, *rpc, found->second.counts));
  return !offered || *offered < objective.limit;
}

}  // namespace

bool IsTooLow(const MeasuredProbe& measured,
              absl::Span<const config::Objective> objectives,
              const TestResult& result, const report::TestTotals& totals) {
  if (measured.outcome != kMissedOutcome || std::isinf(measured.probe.excess) ||
      measured.load_of_limit.size() != objectives.size()) {
    return false;
  }
  for (size_t i = 0; i < objectives.size(); ++i) {
    if (measured.load_of_limit[i] <= 1) continue;
    const config::Objective& objective = objectives[i];
    if (objective.metric.kind != stats::Metric::Kind::kRate ||
        objective.is_upper_limit || !OfferedLess(objective, result, totals)) {
      return false;
    }
  }
  return true;
}

std::string OutcomeOf(const Probe& probe) {
  if (probe.generator_limited) return kGeneratorLimitedOutcome;
  return Met(probe) ? kMetOutcome : kMissedOutcome;
}

absl::StatusOr<MeasuredProbe> MeasureProbe(
    const ProbeRequest& request, absl::Span<const config::Objective> objectives,
    const TestResult& result, const report::TestTotals& totals) {
  const report::RunOutcome ending = report::OutcomeOf(result);
  if (report::WasTooMuch(ending)) {
    return MissedByFar(
        request, absl::StrCat("overloaded: ", *results::FailureOf(result)));
  }
  if (ending == report::RunOutcome::kLost) {
    return absl::AbortedError(*results::FailureOf(result));
  }
  const report::InvalidCauses invalid = report::InvalidCausesOf(result, totals);
  const std::string why_not_valid =
      absl::StrCat("the run ", report::WhyNotMeasured(result));
  if (invalid.other) return absl::AbortedError(why_not_valid);
  MeasuredProbe measured;
  Distance distance;
  bool service_missed = false;
  bool has_grown = false;
  const bool may_grow = report::GrowsByPlan(result);
  for (const config::Objective& objective : objectives) {
    const absl::StatusOr<report::ObjectiveOutcome> outcome =
        report::Judge(objective, result, totals,
                      report::AllowedFailures(objective, objectives, result));
    if (!outcome.ok()) return outcome.status();
    measured.measured.push_back(outcome->measured);
    measured.load_of_limit.push_back(std::exp(outcome->excess.estimate));
    service_missed |= outcome->service_excess.estimate > 0;
    has_grown |= outcome->estimate.has_grown && !may_grow;
    Add(DistanceOf(objective, *outcome), distance);
  }
  SetExcess(distance, has_grown, measured.probe);
  if (has_grown) {
    measured.measured.push_back(
        "latencies were still growing: a longer run would measure more");
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
        absl::StrFormat("%.3g %% of the load was sent", 100 * sent_share));
  }
  if (ending == report::RunOutcome::kInvalid) {
    measured.measured.push_back(why_not_valid);
    DoNotMeet(invalid, measured.probe);
  }
  measured.outcome = OutcomeOf(measured.probe);
  return measured;
}

MeasuredProbe MissedByFar(const ProbeRequest& request, std::string reason) {
  return {.probe = {.request = request,
                    .achieved_load = request.load,
                    .excess = kInfinity},
          .measured = {std::move(reason)},
          .load_of_limit = {},
          .outcome = kMissedOutcome};
}

RpcStatistics StatisticsOf(const TestResult& result,
                           const report::TestTotals& totals, int rpc_index) {
  RpcStatistics statistics;
  const auto found = totals.rpcs.find(results::RpcName(result, rpc_index));
  if (found == totals.rpcs.end()) return statistics;
  found->second.Encode(statistics);
  statistics.clear_failures_by_error();  // indices of different instances
  const stats::Outcomes response = report::ResponseTimeOf(totals, found->first);
  if (response.count() > 0) {
    statistics.set_failed_count(static_cast<int64_t>(response.failed_count));
  }
  return statistics;
}

}  // namespace distbench::search
