// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/search_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "distbench/base/time_units.h"
#include "distbench/products/search/isolation_part.h"
#include "distbench/products/search/system_copies.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/objectives.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/run_failure.h"
#include "distbench/results/walk.h"

namespace distbench::search {
namespace {

// A copy has fallen behind if it did less than this share of the best copy's
// RPCs, or of the RPCs that it was offered.
constexpr double kMinShare = 0.8;

// Counts of random arrivals have a standard deviation of their square root. A
// difference of this many standard deviations is not chance.
constexpr double kSigmas = 3;

SearchProbe BeginReport(const PlannedProbe& planned) {
  SearchProbe probe;
  probe.set_number(planned.number);
  probe.set_phase(std::string(ToString(planned.request.phase)));
  probe.set_requested_load(planned.request.load);
  probe.set_length(planned.request.length);
  return probe;
}

void SetWindow(const PlannedProbe& planned, const TestResult& result,
               SearchProbe& probe) {
  const RunInfo& info = result.run_info();
  if (!info.has_start_timestamp_ns()) return;
  const int64_t start_ns = info.start_timestamp_ns() +
                           absl::ToInt64Nanoseconds(planned.timing.warmup);
  probe.set_start_timestamp_ns(std::min(start_ns, info.end_timestamp_ns()));
  probe.set_end_timestamp_ns(info.end_timestamp_ns());
}

// The RPC that the tables show: that of the first objective that has one,
// otherwise the test's first.
int FirstRpc(const SearchPlan& plan, const TestResult& result) {
  for (const config::Objective& objective : plan.objectives) {
    if (objective.metric.kind == stats::Metric::Kind::kCpu) continue;
    const absl::StatusOr<int> rpc = report::FindRpc(objective, result);
    if (rpc.ok()) return *rpc;
  }
  return 0;
}

int64_t EndedCount(const RpcStatistics& statistics) {
  return statistics.succeeded_count() + statistics.failed_count();
}

bool IsClearlyLess(int64_t count, int64_t reference) {
  return static_cast<double>(count) <
         kMinShare * static_cast<double>(reference) -
             kSigmas * std::sqrt(static_cast<double>(reference));
}

// Whether the subject of an experiment did not survive its antagonist, which is
// the clearest of misses.
bool LostItsSubject(const SearchPlan& plan, const TestResult& result) {
  if (!MeasuresIsolation(plan)) return false;
  const absl::StatusOr<const IsolationPart*> part = FindIsolationPart();
  return part.ok() && (*part)->LostSubject(result);
}

// What a copy did of what its open loops were to send, which is 0 in closed
// loops.
struct CopyWork {
  int64_t ended = 0;
  int64_t offered = 0;
};

// The statistics are the RPC's, and count what was never sent as failed.
CopyWork WorkOf(const RpcStatistics& statistics, const OfferedLoad& load) {
  return {.ended = EndedCount(statistics) - load.unsent_count(),
          .offered = load.offered_count()};
}

struct CopyOutcomes {
  bool any_lost = false;
  bool any_behind = false;
};

// Adds each copy's results, and lists the copies that failed or fell behind.
CopyOutcomes ReportCopies(const SearchPlan& plan,
                          const DistributedSystemDescription& test,
                          const TestResult& result, SearchProbe& probe) {
  CopyOutcomes outcomes;
  std::vector<CopyWork> works;
  int64_t best = 0;
  for (int copy = 1; copy <= plan.instances; ++copy) {
    const TestResult own = ResultOfCopy(result, test, plan.instances, copy);
    const report::TestTotals totals = report::AddUp(own);
    const int rpc = FirstRpc(plan, own);
    RpcStatistics& statistics = *probe.add_instance_statistics();
    statistics = StatisticsOf(own, totals, rpc);
    works.push_back(
        WorkOf(statistics, totals.load(results::RpcName(own, rpc))));
    best = std::max(best, works.back().ended);
  }
  for (int copy = 1; copy <= plan.instances; ++copy) {
    const std::string failure = FailureOfCopy(result, copy);
    const auto [ended, wanted] = works[copy - 1];
    if (!failure.empty()) {
      outcomes.any_lost = true;
      probe.add_instance_failures(
          absl::StrCat("instance ", copy, ": ", failure));
    } else if (IsClearlyLess(ended, best)) {
      outcomes.any_behind = true;
      probe.add_instance_failures(absl::StrFormat(
          "instance %d fell behind: it did %d RPCs, the best one %d", copy,
          ended, best));
    } else if (IsClearlyLess(ended, wanted)) {
      outcomes.any_behind = true;
      probe.add_instance_failures(absl::StrFormat(
          "instance %d fell behind: it did %d of %d RPCs that were due", copy,
          ended, wanted));
    }
  }
  return outcomes;
}

// Whether the run says nothing about its load. An overload ends all copies, and
// says something about the load of each.
bool IsLost(bool has_lost_subject, const CopyOutcomes& copies,
            const TestResult& result) {
  const report::RunOutcome ending = report::OutcomeOf(result);
  if (ending == report::RunOutcome::kOverloaded) return false;
  if (copies.any_lost) return true;
  return ending == report::RunOutcome::kLost && !has_lost_subject;
}

SearchProbe Failed(SearchProbe probe, absl::string_view reason) {
  probe.set_outcome(kFailedOutcome);
  probe.add_measured(std::string(reason));
  return probe;
}

// The measured time; at least a millisecond, because even a probe with damaged
// time stamps takes time.
double SecondsOf(const SearchProbe& probe) {
  return std::max(1e-3, base::ToSeconds(probe.end_timestamp_ns() -
                                        probe.start_timestamp_ns()));
}

// Each load of a list is judged by itself, as a run is: with the intervals of
// its objectives. Latencies that were still growing have none.
void AddIntervals(const SearchPlan& plan, const TestResult& result,
                  MeasuredProbe& measured) {
  if (measured.load_of_limit.size() != plan.objectives.size()) return;
  const std::vector<std::string> texts(plan.spec.objectives().begin(),
                                       plan.spec.objectives().end());
  for (const report::JudgedObjective& judged :
       report::JudgeObjectives(result, texts)) {
    if (judged.has_grown) continue;
    for (size_t i = 0; i < plan.objectives.size(); ++i) {
      if (plan.objectives[i].text != judged.check.condition) continue;
      measured.measured[i] = judged.check.evidence;
    }
  }
}

}  // namespace

SearchProbe ReportProbe(const SearchPlan& plan, const PlannedProbe& planned,
                        const DistributedSystemDescription& test,
                        const TestResult& result) {
  SearchProbe probe = BeginReport(planned);
  SetWindow(planned, result, probe);
  const TestResult merged = ResultOfCopy(result, test, plan.instances, 0);
  const report::TestTotals totals = report::AddUp(merged);
  *probe.mutable_statistics() =
      StatisticsOf(merged, totals, FirstRpc(plan, merged));
  const auto host_cpu = report::MeasureHostCpu(result, totals);
  if (host_cpu.ok()) probe.set_host_cpu_share(host_cpu->value);
  for (std::string& sentence : report::DisturbancesOf(result)) {
    probe.add_disturbances(std::move(sentence));
  }
  CopyOutcomes copies;
  if (plan.instances > 1) copies = ReportCopies(plan, test, result, probe);
  const bool has_lost_subject = LostItsSubject(plan, result);
  if (IsLost(has_lost_subject, copies, result)) {
    return Failed(std::move(probe), results::FailureOf(result).value_or(
                                        "an instance did not take part"));
  }
  absl::StatusOr<MeasuredProbe> measured =
      has_lost_subject
          ? MissedByFar(planned.request,
                        absl::StrCat("the subject was lost: ",
                                     results::FailureOf(result).value_or("")))
          : MeasureProbe(planned.request, plan.objectives, merged, totals);
  if (!measured.ok()) {
    return Failed(std::move(probe), measured.status().message());
  }
  if (!plan.loads.empty()) AddIntervals(plan, merged, *measured);
  probe.set_achieved_load(measured->probe.achieved_load);
  probe.set_outcome(plan.knob->raises_rate() &&
                            IsTooLow(*measured, plan.objectives, merged, totals)
                        ? kTooLowOutcome
                        : measured->outcome);
  for (const std::string& text : measured->measured) probe.add_measured(text);
  for (const double load : measured->load_of_limit) {
    probe.add_load_of_limit(load);
  }
  probe.set_excess(measured->probe.excess);
  probe.set_excess_error(measured->probe.excess_error);
  // An overloaded system may be unevenly overloaded.
  if (copies.any_behind && measured->outcome == kMetOutcome) {
    probe.set_outcome(kFailedOutcome);
  }
  return probe;
}

SearchProbe ReportHopelessProbe(const PlannedProbe& planned,
                                absl::string_view evidence,
                                const stats::LogHistogram& response_time_ns,
                                int64_t start_timestamp_ns,
                                int64_t end_timestamp_ns) {
  SearchProbe probe = BeginReport(planned);
  probe.set_outcome(kMissedOutcome);
  probe.add_measured(std::string(evidence));
  probe.set_excess(std::numeric_limits<double>::infinity());
  probe.set_start_timestamp_ns(start_timestamp_ns);
  probe.set_end_timestamp_ns(end_timestamp_ns);
  RpcStatistics& statistics = *probe.mutable_statistics();
  statistics.set_succeeded_count(
      static_cast<int64_t>(response_time_ns.count()));
  statistics.set_first_start_timestamp_ns(start_timestamp_ns);
  statistics.set_last_end_timestamp_ns(end_timestamp_ns);
  results::EncodeHistogram(response_time_ns,
                           *statistics.mutable_response_time_ns());
  return probe;
}

absl::StatusOr<Probe> ToProbe(const SearchProbe& probe) {
  const std::optional<ProbePhase> phase = ParseProbePhase(probe.phase());
  if (!phase) {
    return absl::InvalidArgumentError(absl::StrCat(
        "probe ", probe.number(),
        " has a phase that this version does not know: ", probe.phase()));
  }
  return Probe{.request = {.phase = *phase,
                           .load = probe.requested_load(),
                           .length = probe.length()},
               .achieved_load = probe.achieved_load(),
               .excess = probe.excess(),
               .excess_error = probe.excess_error(),
               .seconds = SecondsOf(probe),
               .generator_limited = probe.outcome() == kGeneratorLimitedOutcome,
               .is_too_low = probe.outcome() == kTooLowOutcome};
}

double RateOf(const SearchProbe& probe) {
  const double seconds =
      (probe.end_timestamp_ns() - probe.start_timestamp_ns()) / 1e9;
  if (seconds <= 0) return 0;
  return static_cast<double>(EndedCount(probe.statistics())) / seconds;
}

}  // namespace distbench::search
