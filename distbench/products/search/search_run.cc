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
#include "distbench/config/syntax/traffic.h"
#include "distbench/products/search/judgement/hopeless_watch.h"
#include "distbench/products/search/judgement/measured_probe.h"
#include "distbench/products/search/search_report.h"
#include "google/protobuf/util/message_differencer.h"

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
// probe that met at the highest load. Until one has met, the last probe.

// Whether the probe's result is kept, where that of `kept` is so far; null if
// none is.
bool IsKept(const SearchReport& report, const SearchProbe* kept,
            const SearchProbe& probe) {
  if (kept == nullptr || IsFinal(probe)) return true;
  if (IsFinal(*kept)) return false;
  const bool has_met = probe.outcome() == kMetOutcome;
  if (has_met != (kept->outcome() == kMetOutcome)) return has_met;
  if (!has_met) return true;
  return report.finds_lowest()
             ? probe.requested_load() <= kept->requested_load()
             : probe.requested_load() >= kept->requested_load();
}

// Returns null if there is none.
const SearchProbe* ProbeOfLastResult(const TestSequenceResults& results) {
  if (results.test_results().empty()) return nullptr;
  const SearchReport& report = results.searches(0);
  const SearchProbe* found = nullptr;
  for (const SearchProbe& probe : report.probes()) {
    // A probe that was ended early has none.
    const bool has_result =
        probe.has_achieved_load() || probe.outcome() == kFailedOutcome;
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
  if (callbacks_.announce) callbacks_.announce(planned);
  absl::StatusOr<SearchProbe> probe = RunTest(planned);
  if (!probe.ok()) return probe.status();
  Count(*probe);
  *report_.add_probes() = *std::move(probe);
  if (callbacks_.observe) {
    callbacks_.observe(report_, *report_.probes().rbegin());
  }
  return Save();
}

absl::StatusOr<SearchProbe> ProbeRunner::RunTest(const PlannedProbe& planned) {
  const double load = planned.request.load;
  const absl::StatusOr<DistributedSystemDescription> test = plan_.knob->At(
      plan_.knob->is_rate() ? load / plan_.instances : load, planned.timing);
  if (!test.ok()) return test.status();
  const absl::StatusOr<DistributedSystemDescription> all =
      ProbeTest(plan_, load, planned.timing);
  if (!all.ok()) return all.status();

  HopelessWatch watch(*test, plan_.objectives, planned.timing);
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
  absl::StatusOr<SearchProbe> probe =
      ReportProbe(plan_, planned, *test, *result);
  if (probe.ok()) Keep(*probe, *result);
  return probe;
}

void ProbeRunner::Keep(const SearchProbe& probe, TestResult result) {
  const SearchProbe* const kept = ProbeOfLastResult(results_);
  if (!IsKept(report_, kept, probe)) return;
  const bool is_beside_others =
      kept != nullptr && IsFinal(*kept) &&
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

// If the last probe failed, the search is over.
bool ConcludeIfFailed(SearchReport& report) {
  const SearchProbe& last = *report.probes().rbegin();
  if (last.outcome() != kFailedOutcome) return false;
  std::vector<std::string> reasons(last.measured().begin(),
                                   last.measured().end());
  reasons.insert(reasons.end(), last.instance_failures().begin(),
                 last.instance_failures().end());
  Conclude(
      kInvalidVerdict, std::nullopt,
      absl::StrCat("probe ", last.number(), ": ", absl::StrJoin(reasons, "; ")),
      report);
  return true;
}

absl::Status Search(const SearchPlan& plan, ProbeRunner& runner,
                    SearchReport& report) {
  LoadSearch search(plan.options);
  for (const SearchProbe& each : report.probes()) {
    const absl::StatusOr<Probe> probe = ToProbe(each);
    if (!probe.ok()) return probe.status();
    if (search.Next()) search.Add(*probe);
  }
  while (search.Next().has_value()) {
    if (!runner.HasTimeFor(*search.Next())) {
      search.EndEarly(absl::StrCat("the next probe would exceed ",
                                   absl::FormatDuration(plan.timing.max_total),
                                   " of traffic"));
      break;
    }
    absl::Status status = runner.Run({.request = *search.Next(),
                                      .met = search.met(),
                                      .missed = search.missed()});
    if (!status.ok()) return status;
    if (ConcludeIfFailed(report)) return absl::OkStatus();
    const absl::StatusOr<Probe> probe = ToProbe(*report.probes().rbegin());
    if (!probe.ok()) return probe.status();
    search.Add(*probe);
  }
  const SearchResult& result = search.result();
  Conclude(ToString(result.verdict), result.load, result.evidence, report);
  if (result.load) SetInterval(result, report);
  return absl::OkStatus();
}

absl::Status RunList(const SearchPlan& plan, ProbeRunner& runner,
                     SearchReport& report) {
  for (size_t i = report.probes_size(); i < plan.loads.size(); ++i) {
    const absl::Status status = runner.Run(
        {.request = {.phase = ProbePhase::kFinal, .load = plan.loads[i]}});
    if (!status.ok()) return status;
    if (ConcludeIfFailed(report)) return absl::OkStatus();
  }
  int met_count = 0;
  std::optional<double> highest;
  for (const SearchProbe& probe : report.probes()) {
    if (probe.outcome() != kMetOutcome) continue;
    ++met_count;
    highest = std::max(highest.value_or(0), probe.requested_load());
  }
  Conclude(
      met_count == report.probes_size() ? kAllMetVerdict : kNotAllMetVerdict,
      highest,
      absl::StrFormat("%d of %d loads met", met_count, report.probes_size()),
      report);
  return absl::OkStatus();
}

// Drops a failed probe, which is always the last one, so that it is repeated.
void DropFailedProbe(TestSequenceResults& results) {
  SearchReport& report = *results.mutable_searches(0);
  report.clear_verdict();
  report.clear_evidence();
  if (report.probes().empty() ||
      report.probes().rbegin()->outcome() != kFailedOutcome) {
    return;
  }
  if (ProbeOfLastResult(results) == &*report.probes().rbegin()) {
    results.mutable_test_results()->RemoveLast();
  }
  report.mutable_probes()->RemoveLast();
}

// Removes what may differ between runs of one test at one load, and what
// results do not keep.
DistributedSystemDescription Comparable(DistributedSystemDescription test) {
  test.clear_random_seed();
  test.mutable_attributes()->erase(config::kTestTimeoutAttribute);
  for (Action& action : *test.mutable_actions()) {
    if (!action.has_iterations()) continue;
    action.mutable_iterations()->clear_max_duration_us();
    action.mutable_iterations()->clear_warmup_ns();
  }
  // Their members depend on the available nodes.
  for (ServiceSpec& service : *test.mutable_services()) {
    service.clear_multi_server_channels();
  }
  config::RedactSecrets(test);
  return test;
}

// Results of older versions do not say what they were simulated on.
absl::Status CheckSimulatedHosts(const SearchPlan& plan,
                                 const SearchReport& report) {
  if (!report.has_simulated_fabric()) return absl::OkStatus();
  google::protobuf::util::MessageDifferencer differencer;
  std::string differences;
  differencer.ReportDifferencesToString(&differences);
  const bool has_same_fabric =
      differencer.Compare(report.simulated_fabric(), plan.simulated_fabric);
  if (report.simulated_hosts() != plan.simulated_hosts) {
    absl::StrAppend(&differences, "hosts: ", report.simulated_hosts(), " -> ",
                    plan.simulated_hosts, "\n");
  } else if (has_same_fabric) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "it was simulated on other hosts; give the same --fabric, --hosts and "
      "--calibrate_from. What differs:\n",
      differences));
}

}  // namespace

bool IsComplete(const SearchReport& report) {
  return report.has_verdict() && report.verdict() != kInvalidVerdict;
}

absl::Status RunLoadSearch(const SearchPlan& plan,
                           const SearchCallbacks& callbacks,
                           TestSequenceResults& results) {
  if (results.searches().empty()) {
    results.add_searches();
  } else if (absl::Status status = CheckResumable(plan, results);
             !status.ok()) {
    return status;
  }
  SearchReport& report = *results.mutable_searches(0);
  if (IsComplete(report)) return absl::OkStatus();
  DropFailedProbe(results);
  *report.mutable_search() = plan.spec;
  report.set_load_unit(std::string(plan.knob->unit()));
  report.set_finds_lowest(plan.options.finds_lowest);
  if (plan.is_simulated) {
    report.set_simulated(true);
    *report.mutable_simulated_fabric() = plan.simulated_fabric;
    report.set_simulated_hosts(plan.simulated_hosts);
  }
  ProbeRunner runner(plan, callbacks, results);
  const absl::Status status = plan.loads.empty()
                                  ? Search(plan, runner, report)
                                  : RunList(plan, runner, report);
  if (!status.ok()) return status;
  return runner.Save();
}

absl::Status CheckResumable(const SearchPlan& plan,
                            const TestSequenceResults& results) {
  if (results.searches_size() != 1) {
    return absl::FailedPreconditionError("it contains no search to resume");
  }
  const SearchReport& report = results.searches(0);
  if (report.simulated() != plan.is_simulated) {
    return absl::FailedPreconditionError(
        plan.is_simulated ? "it comes from real nodes; leave out --simulate"
                          : "it is simulated; add --simulate");
  }
  if (absl::Status same = CheckSimulatedHosts(plan, report); !same.ok()) {
    return same;
  }
  google::protobuf::util::MessageDifferencer differencer;
  std::string differences;
  differencer.ReportDifferencesToString(&differences);
  if (!differencer.Compare(report.search(), plan.spec)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "it comes from another search, which differs in:\n", differences));
  }
  for (const SearchProbe& probe : report.probes()) {
    if (probe.instance_statistics_size() > 0 &&
        probe.instance_statistics_size() != plan.instances) {
      return absl::FailedPreconditionError(
          absl::StrCat("it has ", probe.instance_statistics_size(),
                       " instances instead of ", plan.instances));
    }
  }
  const SearchProbe* const kept = ProbeOfLastResult(results);
  if (kept == nullptr) return absl::OkStatus();
  absl::StatusOr<DistributedSystemDescription> again =
      ProbeTest(plan, kept->requested_load(),
                {.warmup = plan.timing.warmup, .measured = plan.timing.probe});
  if (!again.ok()) return again.status();
  if (!differencer.Compare(
          Comparable(results.test_results().rbegin()->traffic_config()),
          Comparable(*std::move(again)))) {
    return absl::FailedPreconditionError(absl::StrCat(
        "it comes from another test, which differs in:\n", differences));
  }
  return absl::OkStatus();
}

}  // namespace distbench::search
