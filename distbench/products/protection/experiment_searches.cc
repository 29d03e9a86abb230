// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/experiment_searches.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/products/protection/cell_config.h"
#include "distbench/products/protection/experiment/phases.h"
#include "distbench/products/protection/experiment/services.h"
#include "distbench/products/search/knobs/knob_name.h"

namespace distbench::protection {
namespace {

constexpr char kRateKnob[] = "rate";

// The objective names no RPC if it is the subject's.
std::string ObjectiveOf(const ExperimentPlan& plan) {
  const std::string& text = plan.experiment.subject().objective();
  const absl::StatusOr<config::Objective> objective =
      config::ParseObjective(text);
  if (!objective.ok() || !objective->rpc.empty()) return text;
  return absl::StrCat(plan.rpc, " ", text);
}

// Iterations per second of all open loops for each request of the subject.
double LoadPerRequest(const search::SearchPlan& search,
                      const ExperimentPlan& plan) {
  return search.knob->base_load() / plan.own_rate;
}

}  // namespace

bool NeedsCapacity(const ExperimentPlan& plan) {
  return absl::c_any_of(plan.experiment.subject().loads(),
                        [](const std::string& text) {
                          const auto load = ParseExperimentLoad(text);
                          return load.ok() && load->is_share;
                        });
}

absl::StatusOr<search::SearchPlan> PlanCapacitySearch(
    const ExperimentPlan& plan) {
  DistributedSystemDescription test = plan.subject;
  // The arrivals of cells are alike. Those of probes must not be, because a
  // probe that repeats another one tells nothing new.
  if (!plan.has_own_seed) test.clear_random_seed();
  // Other knobs have loads in other units.
  if (test.search().knob() != kRateKnob) test.clear_search();
  LoadSearchSpec spec;
  spec.set_knob(kRateKnob);
  spec.add_objectives(ObjectiveOf(plan));
  return search::PlanSearch(spec, test);
}

absl::StatusOr<double> CapacityOf(const ExperimentPlan& plan,
                                  const search::SearchPlan& search_plan,
                                  const SearchReport& report) {
  if (!search::HasAnswer(report) || !report.has_load()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the capacity of the subject was not found: ", report.verdict(), ": ",
        report.evidence(), ". ",
        search::HasAnswer(report) ? "Begin"
                                  : "Start again for another attempt, or begin",
        " anew with experiment.subject.capacity or with loads as rates"));
  }
  return report.load() / LoadPerRequest(search_plan, plan);
}

absl::StatusOr<double> FindCapacity(const ExperimentPlan& plan,
                                    const search::SearchPlan& search_plan,
                                    const search::SearchCallbacks& callbacks,
                                    TestSequenceResults& results) {
  const absl::Status status =
      search::RunLoadSearch(search_plan, callbacks, results);
  if (!status.ok()) return status;
  return CapacityOf(plan, search_plan, results.searches(0));
}

namespace {

// Keeps the element with this name.
template <typename Elements>
void KeepNamed(const std::string& name, Elements& elements) {
  for (int i = elements.size() - 1; i >= 0; --i) {
    if (elements.Get(i).name() != name) elements.DeleteSubrange(i, 1);
  }
}

// Returns `wanted` if it is among the elements, or the name of the only one.
template <typename Elements>
absl::StatusOr<std::string> Choose(absl::string_view what,
                                   absl::string_view flag,
                                   const std::string& wanted,
                                   const Elements& elements) {
  std::vector<std::string> names;
  for (const auto& element : elements) {
    names.push_back(element.name());
    if (names.back() == wanted) return wanted;
  }
  if (!wanted.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the experiment has no ", what, " named ", config::Quoted(wanted), "; ",
        config::Suggestion(wanted, names)));
  }
  if (names.size() == 1) return names[0];
  if (names.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the experiment has no ", what, "; add one"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "a search is beside one antagonist, with one set of controls, and the "
      "experiment has ",
      config::QuotedList(names), "; choose one with ", flag));
}

// The set of controls that the knob varies, if it does.
absl::StatusOr<std::string> VariedControls(const search::SearchPlan& plan,
                                           const std::string& chosen) {
  const absl::StatusOr<search::KnobName> knob =
      search::ParseKnobName(plan.spec.knob());
  if (!knob.ok()) return knob.status();
  if (knob->kind != search::KnobName::Kind::kControl) return chosen;
  if (chosen.empty() || chosen == knob->control_set) return knob->control_set;
  return absl::InvalidArgumentError(absl::StrCat(
      "the knob ", plan.spec.knob(),
      " varies other controls than --controls=", chosen, "; leave that out"));
}

absl::StatusOr<ExperimentCell> ChooseCell(const Experiment& experiment,
                                          const search::SearchPlan& plan,
                                          const search::CellChoice& choice) {
  ExperimentCell cell;
  const absl::StatusOr<std::string> controls =
      VariedControls(plan, choice.controls);
  if (!controls.ok()) return controls.status();
  if (experiment.controls().empty() && controls->empty()) {
    cell.set_controls(kNoControls);
  } else {
    const absl::StatusOr<std::string> name =
        Choose("controls", "--controls", *controls, experiment.controls());
    if (!name.ok()) return name.status();
    cell.set_controls(*name);
  }
  const absl::StatusOr<std::string> antagonist =
      Choose("antagonist", "--antagonist", choice.antagonist,
             experiment.antagonists());
  if (!antagonist.ok()) return antagonist.status();
  cell.set_antagonist(*antagonist);
  return cell;
}

// Only what probes need; their load is that of the test.
void Reduce(const ExperimentCell& cell, Experiment& experiment) {
  experiment.mutable_subject()->clear_loads();
  KeepNamed(cell.controls(), *experiment.mutable_controls());
  KeepNamed(cell.antagonist(), *experiment.mutable_antagonists());
}

// The times of the search's probes, where it says none.
void FillInTimes(const PhaseDurations& phases, LoadSearchSpec& search) {
  const auto microseconds = [](absl::Duration duration) {
    return absl::ToInt64Microseconds(duration);
  };
  if (!search.has_warmup_us()) {
    search.set_warmup_us(microseconds(phases.flat_over + phases.baseline));
  }
  if (!search.has_probe_duration_us()) {
    search.set_probe_duration_us(microseconds(phases.interfere));
  }
  if (!search.has_final_duration_us()) {
    search.set_final_duration_us(microseconds(phases.interfere));
  }
}

}  // namespace

absl::StatusOr<search::SearchPlan> PlanIsolationSearch(
    const LoadSearchSpec& spec, const DistributedSystemDescription& test,
    const search::CellChoice& choice, const ExperimentOptions& options) {
  const PhaseDurations phases = ReadPhases(test.experiment().phases());
  DistributedSystemDescription timed = test;
  FillInTimes(phases, *timed.mutable_search());
  absl::StatusOr<search::SearchPlan> plan = search::PlanSearch(spec, timed);
  if (!plan.ok()) return plan;
  absl::StatusOr<ExperimentCell> cell =
      ChooseCell(test.experiment(), *plan, choice);
  if (!cell.ok()) return cell.status();
  if (cell->controls() != kNoControls) plan->controls = cell->controls();
  plan->antagonist = cell->antagonist();
  // Nodes with other CPUs would make the next probes differ from those before.
  if (!plan->test.has_workers_per_instance() &&
      options.workers_per_instance > 0) {
    plan->test.set_workers_per_instance(options.workers_per_instance);
  }
  plan->knob = std::make_unique<CellKnob>(
      std::move(plan->knob), *std::move(cell), phases.baseline, options);
  // A probe that cannot run is told now.
  const search::ProbeTiming shortest = {
      .warmup = plan->timing.warmup,
      .measured = std::min(plan->timing.probe, plan->timing.final_run)};
  const absl::Status possible =
      search::ProbeTest(*plan, plan->options.initial_load, shortest).status();
  if (!possible.ok()) return possible;
  return plan;
}

CellKnob::CellKnob(std::unique_ptr<search::Knob> knob, ExperimentCell cell,
                   absl::Duration baseline, ExperimentOptions options)
    : knob_(std::move(knob)),
      cell_(std::move(cell)),
      baseline_(baseline),
      options_(options) {}

absl::StatusOr<DistributedSystemDescription> CellKnob::At(
    double load, const search::ProbeTiming& timing) const {
  if (timing.warmup < baseline_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a warm-up of ", absl::FormatDuration(timing.warmup),
        " does not contain the experiment's baseline of ",
        absl::FormatDuration(baseline_), "; lengthen it, or shorten that"));
  }
  absl::StatusOr<DistributedSystemDescription> test =
      knob_->At(load, {.warmup = absl::ZeroDuration(),
                       .measured = timing.warmup + timing.measured});
  if (!test.ok()) return test.status();
  const bool has_seed = test->has_random_seed();
  Reduce(cell_, *test->mutable_experiment());
  absl::StatusOr<ExperimentPlan> plan = PlanExperiment(*test, options_);
  if (!plan.ok()) return plan.status();
  plan->phases.interfere = timing.measured;
  plan->phases.recover = absl::ZeroDuration();
  test = CellTest(*plan, cell_, timing.warmup - baseline_);
  // Each probe has other arrivals, unless the test asks for the same.
  if (test.ok() && !has_seed) test->clear_random_seed();
  return test;
}

void CellKnob::Label(const search::ProbeTiming& timing,
                     TestResult& result) const {
  ExperimentCell& cell = *result.mutable_experiment_cell();
  cell = cell_;
  if (!result.run_info().has_start_timestamp_ns()) return;
  const auto at = [&](absl::Duration offset) {
    return result.run_info().start_timestamp_ns() +
           absl::ToInt64Nanoseconds(offset);
  };
  cell.set_baseline_start_timestamp_ns(at(timing.warmup - baseline_));
  cell.set_interfere_start_timestamp_ns(at(timing.warmup));
  cell.set_recover_start_timestamp_ns(at(timing.warmup + timing.measured));
  cell.set_end_timestamp_ns(at(timing.warmup + timing.measured));
}

}  // namespace distbench::protection
