// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/run.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/results/run_failure.h"
#include "distbench/results/walk.h"
#include "distbench/stats/outcomes.h"

namespace distbench::protection {
namespace {

constexpr double kSecondNs = 1e9;

// Recorded series never have shorter intervals.
constexpr int64_t kShortestIntervalNs = 1'000'000'000;

// A limit of latencies: of a percentile or of the mean.
bool LimitsLatencies(const config::Objective& objective) {
  return objective.is_upper_limit && stats::IsLatency(objective.metric);
}

std::optional<int> FindRpc(const TestResult& result, const std::string& rpc) {
  for (int i = 0; i < result.traffic_config().rpc_descriptions_size(); ++i) {
    if (results::RpcName(result, i) == rpc) return i;
  }
  return std::nullopt;
}

// Measures the intervals of one run, in the order of the phases.
class RunMeasurement {
 public:
  RunMeasurement(const TestResult& result, const ProtectionSubject& subject)
      : subject_(subject) {
    run_.result = &result;
  }

  ProtectionRun Measure(int64_t most_seconds) {
    const absl::Status status = Prepare(most_seconds);
    if (status.ok()) {
      MeasureSeconds(ProtectionPhase::kBaseline, phases_.baseline);
      MeasureSeconds(ProtectionPhase::kInterference, phases_.interference);
      MeasureSeconds(ProtectionPhase::kRecovery, phases_.recovery);
      FindRecovery();
    } else {
      run_.problem = std::string(status.message());
    }
    return std::move(run_);
  }

 private:
  absl::Status Prepare(int64_t most_seconds) {
    const absl::StatusOr<ProtectionPhases> phases =
        PhasesOf(run_.result->experiment_cell());
    if (!phases.ok()) return phases.status();
    phases_ = *phases;
    const absl::Status status = CollectSubject();
    if (!status.ok()) return status;
    if (ends_.antagonist_loss_ns) EndAt(*ends_.antagonist_loss_ns);
    const TimeSpan all = {phases_.baseline.start_ns, phases_.recovery.end_ns};
    if (WholeIntervals(all, run_.interval_ns).count() > most_seconds) {
      return absl::OutOfRangeError(
          absl::StrCat("its phases have more than ", most_seconds,
                       " seconds, which is more than a report shows"));
    }
    if (WholeIntervals(phases_.interference, run_.interval_ns).count() == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the interference has no whole interval of ",
          run_.interval_ns / kSecondNs, " s",
          run_.antagonist_lost ? ": the antagonist was lost" : ""));
    }
    return MeasureBaseline();
  }

  absl::Status CollectSubject() {
    const std::optional<int> rpc_index = FindRpc(*run_.result, subject_.rpc);
    if (!rpc_index) {
      return absl::NotFoundError(
          absl::StrCat("its config has no RPC \"", subject_.rpc, "\""));
    }
    ends_ = RecordEndsOf(*run_.result, *rpc_index);
    series_ = report::CollectSeries(*run_.result, *rpc_index);
    if (series_.intervals.empty()) {
      return absl::NotFoundError(
          absl::StrCat("nothing of the RPC \"", subject_.rpc,
                       "\" was recorded over time", AndWhyItEnded()));
    }
    if (series_.interval_ns < kShortestIntervalNs) {
      return absl::InvalidArgumentError(
          absl::StrCat("the series of the RPC \"", subject_.rpc,
                       "\" are damaged: their intervals are shorter than a "
                       "second"));
    }
    run_.interval_ns = series_.interval_ns;
    run_.left_out_count = series_.left_out_count;
    run_.clocks_contradict = ClocksContradict();
    run_.has_response_times = std::any_of(
        series_.intervals.begin(), series_.intervals.end(), [](const auto& i) {
          return i.second.offered > 0 || i.second.response_time_ns.count() > 0;
        });
    return absl::OkStatus();
  }

  // For the end of a sentence.
  std::string AndWhyItEnded() const {
    const std::optional<std::string> failure = results::FailureOf(*run_.result);
    return failure ? absl::StrCat(": ", *failure) : "";
  }

  // Whether whole intervals of records lie before the start of the run or, if
  // it did not fail, after its end.
  bool ClocksContradict() const {
    const RunInfo& info = run_.result->run_info();
    const int64_t width_ns = series_.interval_ns;
    const int64_t first_end_ns =
        (series_.intervals.begin()->first + 1) * width_ns;
    const int64_t last_start_ns = series_.intervals.rbegin()->first * width_ns;
    return base::SaturatingSubtract(info.start_timestamp_ns(), first_end_ns) >=
               width_ns ||
           (info.has_end_timestamp_ns() && !results::FailureOf(*run_.result) &&
            base::SaturatingSubtract(last_start_ns, info.end_timestamp_ns()) >=
                width_ns);
  }

  // Without the antagonist, nothing of the rest is interference or recovery.
  void EndAt(int64_t end_ns) {
    run_.antagonist_lost = true;
    EndPhasesAt(end_ns, phases_);
  }

  absl::Status MeasureBaseline() {
    const IntervalRange range =
        WholeIntervals(phases_.baseline, run_.interval_ns);
    stats::Outcomes outcomes;
    report::IntervalTotals all;
    double goodput = 0;
    for (int64_t index = range.begin; index < range.end; ++index) {
      if (StateOf(index) != SecondState::kMeasured) {
        return absl::FailedPreconditionError(absl::StrCat(
            "the run ended before or in its baseline", AndWhyItEnded()));
      }
      outcomes.Merge(OutcomesOf(index));
      const double served = Goodput(index);
      goodput += served;
      if (served == 0) ++run_.baseline.silent_count;
      AddCounts(index, all);
    }
    const double due = std::max(static_cast<double>(all.offered),
                                static_cast<double>(outcomes.count()));
    if (due > 0) run_.baseline.served_share = goodput / due;
    if (goodput == 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "no request was served within the objective in the ", range.count(),
          " whole seconds of the baseline, with which the rest would be "
          "compared"));
    }
    run_.baseline_per_second = PerSecond(goodput / range.count());
    run_.baseline.second_count = range.count();
    SetBaselineLatencies(outcomes, all);
    return absl::OkStatus();
  }

  void SetBaselineLatencies(const stats::Outcomes& outcomes,
                            const report::IntervalTotals& all) {
    for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
      run_.baseline_ns[i] = outcomes.ValueAtQuantile(kImpactQuantiles[i]);
    }
    if (run_.has_response_times) {
      const auto counted = static_cast<int64_t>(outcomes.latency_ns.count());
      run_.baseline.without_response_time_count =
          std::max<int64_t>(0, all.succeeded - all.warmup - counted);
    }
    run_.baseline.has_main_impact =
        Impact(0, run_.baseline_ns[kMainImpact]).has_value();
  }

  void AddCounts(int64_t index, report::IntervalTotals& sum) const {
    const auto found = series_.intervals.find(index);
    if (found == series_.intervals.end()) return;
    base::SaturatingAddTo(sum.offered, found->second.offered);
    base::SaturatingAddTo(sum.succeeded, found->second.succeeded);
    base::SaturatingAddTo(sum.warmup, found->second.warmup);
  }

  void MeasureSeconds(ProtectionPhase phase, const TimeSpan& span) {
    const IntervalRange range = WholeIntervals(span, run_.interval_ns);
    for (int64_t index = range.begin; index < range.end; ++index) {
      run_.seconds.push_back(SecondAt(phase, index));
    }
  }

  ProtectionSecond SecondAt(ProtectionPhase phase, int64_t index) const {
    ProtectionSecond second = {.phase = phase,
                               .state = StateOf(index),
                               .start_ns = index * run_.interval_ns};
    const bool is_measured = second.state == SecondState::kMeasured;
    if (is_measured) {
      second.goodput_per_second = PerSecond(Goodput(index));
      second.isolation =
          std::min(1.0, second.goodput_per_second / run_.baseline_per_second);
    }
    const stats::Outcomes outcomes =
        is_measured ? OutcomesOf(index) : stats::Outcomes();
    for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
      second.latency_ns[i] =
          outcomes.count() == 0 ? stats::Outcomes::kFailed
                                : outcomes.ValueAtQuantile(kImpactQuantiles[i]);
      second.impact[i] = Impact(second.latency_ns[i], run_.baseline_ns[i]);
    }
    return second;
  }

  // By how much a latency exceeds that of the baseline.
  static std::optional<double> Impact(int64_t latency_ns, int64_t baseline_ns) {
    if (baseline_ns == stats::Outcomes::kFailed || baseline_ns <= 0) {
      return std::nullopt;
    }
    if (latency_ns == stats::Outcomes::kFailed)
      return ValueDistribution::kInfinite;
    return std::max(
        0.0,
        static_cast<double>(latency_ns) / static_cast<double>(baseline_ns) - 1);
  }

  SecondState StateOf(int64_t index) const {
    const int64_t end_ns = (index + 1) * run_.interval_ns;
    if (ends_.failure_ns && end_ns > *ends_.failure_ns) {
      return SecondState::kFailed;
    }
    if (ends_.first_loss_ns && end_ns > *ends_.first_loss_ns) {
      return SecondState::kMissing;
    }
    return SecondState::kMeasured;
  }

  const stats::LogHistogram& LatencyOf(
      const report::IntervalTotals& totals) const {
    return run_.has_response_times ? totals.response_time_ns
                                   : totals.service_time_ns;
  }

  // Requests that ended in the interval.
  stats::Outcomes OutcomesOf(int64_t index) const {
    const auto found = series_.intervals.find(index);
    if (found == series_.intervals.end()) return {};
    return {.latency_ns = LatencyOf(found->second),
            .failed_count = static_cast<uint64_t>(found->second.failed)};
  }

  double Goodput(int64_t index) const {
    const auto found = series_.intervals.find(index);
    if (found == series_.intervals.end()) return 0;
    const stats::LogHistogram& latency = LatencyOf(found->second);
    return static_cast<double>(subject_.limit_ns
                                   ? latency.CountAtMost(*subject_.limit_ns)
                                   : latency.count());
  }

  double PerSecond(double amount) const {
    return amount * kSecondNs / static_cast<double>(run_.interval_ns);
  }

  void FindRecovery() {
    TimeSpan recovery = phases_.recovery;
    // Who failed before the phase did not recover. Who failed in it might have.
    if (ends_.failure_ns && *ends_.failure_ns > recovery.start_ns) {
      recovery.end_ns = std::min(recovery.end_ns, *ends_.failure_ns);
    }
    run_.recovery_s =
        static_cast<double>(recovery.end_ns - recovery.start_ns) / kSecondNs;
    const int64_t needed =
        (kRecoveredForNs + run_.interval_ns - 1) / run_.interval_ns;
    int64_t held = 0;
    for (const ProtectionSecond& second : run_.seconds) {
      if (second.phase != ProtectionPhase::kRecovery) continue;
      held = HasRecovered(second) ? held + 1 : 0;
      if (held < needed) continue;
      const int64_t first_ns =
          second.start_ns - (needed - 1) * run_.interval_ns;
      run_.recovered_after_s =
          static_cast<double>(first_ns - recovery.start_ns) / kSecondNs;
      return;
    }
  }

  static bool HasRecovered(const ProtectionSecond& second) {
    return second.isolation >= kRecoveredIsolation &&
           second.impact[kMainImpact].value_or(ValueDistribution::kInfinite) <=
               kRecoveredImpact;
  }

  const ProtectionSubject& subject_;
  RecordEnds ends_;
  ProtectionPhases phases_;
  report::RpcSeries series_;
  ProtectionRun run_;
};

}  // namespace

absl::StatusOr<ProtectionSubject> SubjectOf(const Experiment& experiment) {
  ProtectionSubject subject;
  subject.rpc = experiment.subject().rpc();
  if (subject.rpc.empty()) {
    return absl::InvalidArgumentError(
        "the experiment of the result does not name the subject's RPC");
  }
  if (experiment.subject().objective().empty()) return subject;
  const absl::StatusOr<config::Objective> objective =
      config::ParseObjective(experiment.subject().objective());
  if (!objective.ok()) return objective.status();
  if (!LimitsLatencies(*objective)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the subject's objective \"", objective->text,
                     "\" is not a limit of latencies such as p99<=20ms"));
  }
  subject.limit_ns = static_cast<int64_t>(std::min(
      objective->limit, static_cast<double>(stats::LogHistogram::kMaxValue)));
  return subject;
}

absl::string_view SecondStateName(SecondState state) {
  switch (state) {
    case SecondState::kMeasured:
      return "measured";
    case SecondState::kMissing:
      return "missing";
    case SecondState::kFailed:
      break;
  }
  return "failed";
}

ProtectionRun MeasureProtection(const TestResult& result,
                                const ProtectionSubject& subject,
                                int64_t most_seconds) {
  return RunMeasurement(result, subject).Measure(most_seconds);
}

bool ShowsRecovery(const ProtectionRun& run) {
  return run.baseline.has_main_impact &&
         run.recovery_s * kSecondNs >= static_cast<double>(kRecoveredForNs);
}

std::vector<double> IsolationOf(const ProtectionRun& run) {
  std::vector<double> values;
  for (const ProtectionSecond& second : run.seconds) {
    if (second.phase == ProtectionPhase::kInterference) {
      values.push_back(second.isolation);
    }
  }
  return values;
}

std::vector<double> ImpactOf(const ProtectionRun& run, size_t quantile_index) {
  std::vector<double> values;
  for (const ProtectionSecond& second : run.seconds) {
    const std::optional<double>& impact = second.impact[quantile_index];
    if (second.phase == ProtectionPhase::kInterference && impact) {
      values.push_back(*impact);
    }
  }
  return values;
}

}  // namespace distbench::protection
