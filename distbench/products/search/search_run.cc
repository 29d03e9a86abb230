// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/search_run.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "distbench/config/reading/load.h"
#include "distbench/products/search/judgement/hopeless_watch.h"
#include "distbench/products/search/judgement/measured_probe.h"
#include "distbench/products/search/report/search_text.h"
#include "distbench/products/search/resumption.h"
#include "distbench/products/search/search_report.h"
#include "distbench/report/findings/findings.h"

namespace distbench::search {
namespace {

bool IsFinal(const SearchProbe& probe) {
  return probe.phase() == ToString(ProbePhase::kFinal);
}

absl::Duration LengthOf(const ProbeTiming& timing) {
  return timing.warmup + timing.measured;
}

// ---- Which results are kept -------------------------------------------------
//
// What reports show of a search should be its answer: the final runs at the
// last load (of a list of loads, those of all) or, until there is one, the
// probe that met at the highest load. Until one has met, the last probe. Of
// runs that failed, the last one is kept as long as there is nothing else.

bool HasFailed(const SearchProbe& probe) {
  return probe.outcome() == kFailedOutcome;
}

// Whether the probe's result is kept, where that of `kept` is so far; null if
// none is.
bool IsKept(const SearchReport& report, const SearchProbe* kept,
            const SearchProbe& probe) {
  if (kept == nullptr || HasFailed(*kept)) return true;
  if (HasFailed(probe)) return false;
  if (IsFinal(probe)) return true;
  if (IsFinal(*kept)) return false;
  const bool has_met = probe.outcome() == kMetOutcome;
  if (has_met != (kept->outcome() == kMetOutcome)) return has_met;
  if (!has_met) return true;
  return report.finds_lowest()
             ? probe.requested_load() <= kept->requested_load()
             : probe.requested_load() >= kept->requested_load();
}

// Returns null if there is none.
const SearchProbe* ProbeOfLastResult(const SearchReport& report) {
  const SearchProbe* found = nullptr;
  for (const SearchProbe& probe : report.probes()) {
    // A probe that was ended early has no result.
    const bool has_result = probe.has_achieved_load() || HasFailed(probe);
    if (has_result && IsKept(report, found, probe)) found = &probe;
  }
  return found;
}

// Runs probes one at a time, and adds each to the report.
class ProbeRunner {
 public:
  ProbeRunner(const SearchPlan& plan, const SearchCallbacks& callbacks,
              TestSequenceResults& results)
      : plan_(plan),
        callbacks_(callbacks),
        results_(results),
        report_(*results.mutable_searches(0)) {
    for (const SearchProbe& probe : report_.probes()) Count(probe);
  }

  // How long the probe will take, given its `load` and `phase`.
  ProbeTiming TimingOf(const ProbeRequest& request) const {
    return {
        .warmup = plan_.timing.warmup,
        .measured = ProbeTime(
            plan_, request, plan_.knob->is_rate() ? request.load : last_rate_)};
  }

  // Whether the time budget allows the probe.
  bool HasTimeFor(const ProbeRequest& request) const {
    return used_ + LengthOf(TimingOf(request)) <= plan_.timing.max_total;
  }

  // Afterwards, the probe is the last one of the report.
  absl::Status Run(PlannedProbe planned);

  // Tells of the last probe.
  void Observe(const Bracket& bracket) const {
    if (!callbacks_.observe) return;
    callbacks_.observe(report_, *report_.probes().rbegin(), bracket);
  }

  absl::Status Save() {
    return callbacks_.save ? callbacks_.save(results_) : absl::OkStatus();
  }

 private:
  absl::StatusOr<SearchProbe> RunTest(const PlannedProbe& planned);
  void Keep(const SearchProbe& probe, TestResult result);
  absl::Time Now() const {
    return callbacks_.now ? callbacks_.now() : absl::Now();
  }

  // Records the time used and the rate, which later probes depend on.
  void Count(const SearchProbe& probe) {
    used_ +=
        plan_.timing.warmup + absl::Nanoseconds(probe.end_timestamp_ns() -
                                                probe.start_timestamp_ns());
    if (HasFailed(probe)) return;
    if (const double rate = RateOf(probe); rate > 0) last_rate_ = rate;
  }

  const SearchPlan& plan_;
  const SearchCallbacks& callbacks_;
  TestSequenceResults& results_;
  SearchReport& report_;
  absl::Duration used_;
  double last_rate_ = 0;
};

absl::Status ProbeRunner::Run(PlannedProbe planned) {
  planned.number = report_.probes_size() + 1;
  planned.timing = TimingOf(planned.request);
  planned.asked = AskedTime(plan_, planned.request);
  if (callbacks_.announce) callbacks_.announce(planned);
  absl::StatusOr<SearchProbe> probe = RunTest(planned);
  if (!probe.ok()) return probe.status();
  Count(*probe);
  *report_.add_probes() = *std::move(probe);
  return absl::OkStatus();
}

absl::StatusOr<SearchProbe> ProbeRunner::RunTest(const PlannedProbe& planned) {
  const double load = planned.request.load;
  const absl::StatusOr<DistributedSystemDescription> test =
      plan_.knob->At(LoadOfCopy(plan_, load), planned.timing);
  if (!test.ok()) return test.status();
  const absl::StatusOr<DistributedSystemDescription> all =
      ProbeTest(plan_, load, planned.timing);
  if (!all.ok()) return all.status();

  HopelessWatch watch(*test, plan_.objectives, planned.timing, plan_.instances);
  // Warm-ups are not judged, and a list of loads must be measured completely.
  const bool may_end_early =
      plan_.loads.empty() && planned.request.phase != ProbePhase::kWarmup;
  bool is_hopeless = false;
  absl::Time start = Now();
  absl::StatusOr<TestResult> result =
      callbacks_.run(*all, [&](const RunTestsEvent& event) {
        if (callbacks_.progress) callbacks_.progress(event);
        if (event.has_started()) start = Now();
        if (may_end_early && event.has_progress() && !is_hopeless) {
          is_hopeless = watch.Add(event.progress(), Now() - start);
        }
        return !is_hopeless;
      });
  if (is_hopeless) {
    return ReportHopelessProbe(planned, watch.evidence(),
                               watch.response_time_ns(),
                               absl::ToUnixNanos(start + planned.timing.warmup),
                               absl::ToUnixNanos(Now()));
  }
  if (!result.ok()) return result.status();
  plan_.knob->Label(planned.timing, *result);
  SearchProbe probe = ReportProbe(plan_, planned, *test, *result);
  Keep(probe, *result);
  return probe;
}

void ProbeRunner::Keep(const SearchProbe& probe, TestResult result) {
  const SearchProbe* const kept = ProbeOfLastResult(report_);
  if (!IsKept(report_, kept, probe)) return;
  const bool is_beside_others =
      kept != nullptr && IsFinal(*kept) && !HasFailed(*kept) &&
      (!plan_.loads.empty() ||
       kept->requested_load() == probe.requested_load());
  if (!is_beside_others) results_.clear_test_results();
  *results_.add_test_results() = std::move(result);
}

void Conclude(absl::string_view verdict, std::optional<double> load,
              absl::string_view evidence, SearchReport& report) {
  report.set_verdict(std::string(verdict));
  report.set_evidence(std::string(evidence));
  if (load) report.set_load(*load);
}

// Requires that the search found a load.
void SetInterval(const SearchResult& result, SearchReport& report) {
  const LoadInterval& interval = result.interval;
  if (interval.min) report.set_min_load(*interval.min);
  if (interval.max) report.set_max_load(*interval.max);
  report.set_confidence_level(kSearchConfidence);
  report.set_is_proven(result.is_proven);
}

// The last probe, which failed, ends the search.
void ConcludeFailure(SearchReport& report) {
  const SearchProbe& last = *report.probes().rbegin();
  std::vector<std::string> reasons(last.measured().begin(),
                                   last.measured().end());
  reasons.insert(reasons.end(), last.instance_failures().begin(),
                 last.instance_failures().end());
  Conclude(
      kInvalidVerdict, std::nullopt,
      absl::StrCat("probe ", last.number(), ": ", absl::StrJoin(reasons, "; ")),
      report);
}

std::string OutOfTime(const SearchPlan& plan) {
  return absl::StrCat("the next probe would exceed ",
                      absl::FormatDuration(plan.timing.max_total),
                      " of traffic");
}

// ---- Who asks for probes ----------------------------------------------------

// The loads of a list, one after the other.
class LoadList {
 public:
  explicit LoadList(const SearchPlan& plan) : plan_(plan) {}

  std::optional<ProbeRequest> Next() const {
    if (count_ == plan_.loads.size()) return std::nullopt;
    return ProbeRequest{.phase = ProbePhase::kFinal,
                        .load = plan_.loads[count_]};
  }
  void Add(const Probe& probe) {
    ++count_;
    if (probe.generator_limited) ++not_generated_count_;
    if (Met(probe)) ++met_count_;
  }

  Bracket bracket() const { return {}; }

  void Conclude(bool is_out_of_time, SearchReport& report) const {
    if (is_out_of_time) {
      return search::Conclude(
          ToString(SearchVerdict::kBudgetExhausted), AnswerOfList(report),
          absl::StrFormat("%d of %d loads were run, %d met%s: %s", count_,
                          plan_.loads.size(), met_count_, NotGenerated(),
                          OutOfTime(plan_)),
          report);
    }
    search::Conclude(Verdict(), AnswerOfList(report),
                     absl::StrFormat("%d of %d loads met%s", met_count_, count_,
                                     NotGenerated()),
                     report);
  }

 private:
  // A load that was not generated says nothing about the system, so it is no
  // miss; but one that missed is enough for not all to be met.
  absl::string_view Verdict() const {
    if (met_count_ == count_) return kAllMetVerdict;
    return met_count_ + not_generated_count_ == count_
               ? ToString(SearchVerdict::kGeneratorLimited)
               : kNotAllMetVerdict;
  }

  std::string NotGenerated() const {
    if (not_generated_count_ == 0) return "";
    return absl::StrFormat(", %d could not be generated", not_generated_count_);
  }

  const SearchPlan& plan_;
  size_t count_ = 0;
  size_t met_count_ = 0;
  size_t not_generated_count_ = 0;
};

class LoadFinder {
 public:
  explicit LoadFinder(const SearchPlan& plan)
      : plan_(plan), search_(plan.options) {}

  std::optional<ProbeRequest> Next() const { return search_.Next(); }
  void Add(const Probe& probe) { search_.Add(probe); }
  Bracket bracket() const {
    return {.met = search_.met(), .missed = search_.missed()};
  }

  void Conclude(bool is_out_of_time, SearchReport& report) {
    if (is_out_of_time) search_.EndEarly(OutOfTime(plan_));
    const SearchResult& result = search_.result();
    search::Conclude(ToString(result.verdict), result.load, result.evidence,
                     report);
    if (result.load) SetInterval(result, report);
  }

 private:
  const SearchPlan& plan_;
  LoadSearch search_;
};

template <typename Asker>
absl::Status Replay(const SearchReport& report, Asker& asker) {
  return ReplayProbes(
      report, [&] { return asker.Next(); },
      [&](const Probe& probe) { asker.Add(probe); });
}

// Whether the probes of the report are those that the plan asks for.
absl::Status CheckProbes(const SearchPlan& plan, const SearchReport& report) {
  if (plan.loads.empty()) {
    LoadFinder finder(plan);
    return Replay(report, finder);
  }
  LoadList list(plan);
  return Replay(report, list);
}

// Continues after the probes of the report until nothing more is asked for, and
// concludes.
template <typename Asker>
absl::Status GoOn(const SearchPlan& plan, const SearchCallbacks& callbacks,
                  TestSequenceResults& results) {
  SearchReport& report = *results.mutable_searches(0);
  ProbeRunner runner(plan, callbacks, results);
  Asker asker(plan);
  if (absl::Status replayed = Replay(report, asker); !replayed.ok()) {
    return replayed;
  }
  bool is_out_of_time = false;
  while (const std::optional<ProbeRequest> request = asker.Next()) {
    is_out_of_time = !runner.HasTimeFor(*request);
    if (is_out_of_time) break;
    ClearConclusion(report);
    absl::Status status =
        runner.Run({.request = *request, .bracket = asker.bracket()});
    if (!status.ok()) return status;
    const SearchProbe& last = *report.probes().rbegin();
    if (HasFailed(last)) {
      runner.Observe(asker.bracket());
      ConcludeFailure(report);
      return runner.Save();
    }
    const absl::StatusOr<Probe> probe = ToProbe(last);
    if (!probe.ok()) return probe.status();
    asker.Add(*probe);
    runner.Observe(asker.bracket());
    status = runner.Save();
    if (!status.ok()) return status;
  }
  ClearConclusion(report);
  asker.Conclude(is_out_of_time, report);
  return runner.Save();
}

absl::Status GoOn(const SearchPlan& plan, const SearchCallbacks& callbacks,
                  TestSequenceResults& results) {
  return plan.loads.empty() ? GoOn<LoadFinder>(plan, callbacks, results)
                            : GoOn<LoadList>(plan, callbacks, results);
}

// Whether the report says, as its last word, that nothing was found.
bool EndedWithoutAnswer(const SearchReport& report) {
  return report.has_verdict() && report.verdict() != kInvalidVerdict &&
         !HasAnswer(report);
}

// How much a search may run says nothing about its answer.
void CopyBudget(const LoadSearchSpec& from, LoadSearchSpec& to) {
  to.clear_max_probes();
  to.clear_max_time_us();
  if (from.has_max_probes()) to.set_max_probes(from.max_probes());
  if (from.has_max_time_us()) to.set_max_time_us(from.max_time_us());
}

absl::Status CheckBudget(const SearchPlan& plan, const SearchReport& report) {
  if (!plan.loads.empty()) return absl::OkStatus();
  const auto done =
      std::count_if(report.probes().begin(), report.probes().end(),
                    [](const SearchProbe& probe) { return !HasFailed(probe); });
  if (done <= plan.options.max_probes) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("it has ", done, " probes already, more than the ",
                   plan.options.max_probes, " of max_probes; allow more"));
}

}  // namespace

SearchReport NewSearchReport(const SearchPlan& plan) {
  SearchReport report;
  *report.mutable_search() = plan.spec;
  report.set_load_unit(std::string(plan.knob->unit()));
  report.set_finds_lowest(plan.options.finds_lowest);
  if (plan.is_simulated) {
    report.set_simulated(true);
    *report.mutable_simulated_fabric() = plan.simulated_fabric;
    report.set_simulated_hosts(plan.simulated_hosts);
  }
  if (plan.test.ByteSizeLong() > 0) {
    *report.mutable_test() = plan.test;
    config::RedactSecrets(*report.mutable_test());
  }
  report.mutable_loads()->Add(plan.loads.begin(), plan.loads.end());
  report.set_instances(plan.instances);
  report.mutable_cpu_slices()->Add(plan.cpu_slices.begin(),
                                   plan.cpu_slices.end());
  if (!plan.controls.empty()) report.set_controls(plan.controls);
  if (!plan.antagonist.empty()) report.set_antagonist(plan.antagonist);
  return report;
}

bool HasAnswer(const SearchReport& report) {
  return report.has_verdict() && ExitCodeOf(report) != report::kExitRunFailed;
}

int ExitCodeOf(const SearchReport& report) {
  const std::string& verdict = report.verdict();
  if (verdict == ToString(SearchVerdict::kConverged) ||
      verdict == ToString(SearchVerdict::kUpperBoundHit) ||
      verdict == kAllMetVerdict) {
    return report::kExitOk;
  }
  if (verdict == ToString(SearchVerdict::kObjectiveUnreachable) ||
      verdict == kNotAllMetVerdict) {
    return report::kExitGateNotMet;
  }
  return report::kExitRunFailed;
}

absl::Status RunLoadSearch(const SearchPlan& plan,
                           const SearchCallbacks& callbacks,
                           TestSequenceResults& results) {
  if (results.searches().empty()) {
    *results.add_searches() = NewSearchReport(plan);
    return GoOn(plan, callbacks, results);
  }
  if (absl::Status status = CheckResumable(plan, results); !status.ok()) {
    return status;
  }
  SearchReport& report = *results.mutable_searches(0);
  const bool is_further_attempt = EndedWithoutAnswer(report);
  const int probes_before = report.probes_size();
  CopyBudget(plan.spec, *report.mutable_search());
  absl::Status status = GoOn(plan, callbacks, results);
  // With more of its budget, it has gone on.
  if (!status.ok() || !is_further_attempt ||
      report.probes_size() > probes_before) {
    return status;
  }
  BeginAnotherAttempt(report);
  return GoOn(plan, callbacks, results);
}

absl::Status CheckKept(const TestSequenceResults& results) {
  if (results.searches_size() != 1) {
    return absl::FailedPreconditionError("it contains no search to resume");
  }
  if (results.searches(0).has_instances()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "it was begun by an older version of distbench, which did not keep the "
      "test; begin anew, in another file");
}

absl::Status CheckResumable(const SearchPlan& plan,
                            const TestSequenceResults& results) {
  if (absl::Status kept = CheckKept(results); !kept.ok()) return kept;
  const SearchReport& report = results.searches(0);
  if (report.simulated() != plan.is_simulated) {
    return absl::FailedPreconditionError(
        plan.is_simulated ? "it comes from real nodes; leave out --simulate"
                          : "it is simulated; add --simulate");
  }
  SearchReport recorded = WithoutAnswer(report);
  SearchReport asked = NewSearchReport(plan);
  // More probes, or more time, are no other question.
  CopyBudget({}, *recorded.mutable_search());
  CopyBudget({}, *asked.mutable_search());
  absl::Status status =
      CheckSame("it comes from another search", recorded, asked);
  status.Update(CheckBudget(plan, report));
  return status.ok() ? CheckProbes(plan, report) : status;
}

}  // namespace distbench::search
