#include "distbench/products/protection/cell_config.h"

#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/protection/antagonist_services.h"
#include "distbench/products/protection/experiment/antagonist_names.h"
#include "distbench/products/protection/experiment/phases.h"
#include "distbench/products/search/knobs/config_knobs.h"
#include "distbench/products/search/knobs/knob.h"

namespace distbench::protection {
namespace {

bool IsAlone(const ExperimentCell& cell) {
  return cell.purpose() == kAntagonistAlone;
}

// Names appear in file names, too.
std::string NameOf(const ExperimentPlan& plan, const ExperimentCell& cell) {
  std::string name = plan.subject.name();
  for (const std::string& part :
       {cell.controls(), cell.antagonist(), cell.load(), cell.purpose()}) {
    if (part.empty()) continue;
    absl::StrAppend(&name, name.empty() ? "" : "-", part);
  }
  return absl::StrReplaceAll(name, {{"/", "_per_"}, {"%", "_percent"}});
}

// The services start, and do nothing. Without RPCs, a run that measures none is
// valid.
void RemoveTraffic(DistributedSystemDescription& test) {
  test.clear_action_lists();
  test.clear_actions();
  test.clear_rpc_descriptions();
  test.clear_rpc_replay_traces();
  test.clear_objectives();
  test.clear_search();
}

// The subject at the load of the cell, for the whole time.
absl::StatusOr<DistributedSystemDescription> SubjectAt(
    const ExperimentPlan& plan, const ExperimentCell& cell,
    absl::Duration duration) {
  const search::ProbeTiming timing = {.warmup = absl::ZeroDuration(),
                                      .measured = duration};
  DistributedSystemDescription test = plan.subject;
  if (IsAlone(cell)) RemoveTraffic(test);
  if (IsAlone(cell) || cell.load().empty()) {
    search::TimeProbe(timing, config::IsOpenLoop, test);
    return test;
  }
  const absl::StatusOr<search::RateKnob> knob =
      search::RateKnob::Make(std::move(test));
  if (!knob.ok()) return knob.status();
  // All open loops are scaled alike; the load is that of the RPC.
  return knob->At(knob->base_load() * cell.load_per_second() / plan.own_rate,
                  timing);
}

// What is left of a set in a test without the services of some antagonists.
void SetControls(const ControlSet& controls,
                 DistributedSystemDescription& test) {
  const auto matches_service = [&](const std::string& glob) {
    return absl::c_any_of(test.services(), [&](const ServiceSpec& service) {
      return config::GlobMatches(glob, service.name());
    });
  };
  ControlSet kept = controls;
  kept.clear_groups();
  for (const ControlGroup& group : controls.groups()) {
    ControlGroup with_services = group;
    with_services.clear_services();
    for (const std::string& glob : group.services()) {
      if (matches_service(glob)) with_services.add_services(glob);
    }
    if (with_services.services().empty() && !group.everything_else()) continue;
    *kept.add_groups() = std::move(with_services);
  }
  if (kept.groups().empty() && kept.io_cost().empty()) return;
  *test.mutable_controls() = std::move(kept);
}

const Antagonist* FindAntagonist(const ExperimentPlan& plan,
                                 const std::string& name) {
  for (const Antagonist& antagonist : plan.experiment.antagonists()) {
    if (antagonist.name() == name) return &antagonist;
  }
  return nullptr;
}

const ControlSet* FindControls(const ExperimentPlan& plan,
                               const std::string& name) {
  for (const ControlSet& controls : plan.experiment.controls()) {
    if (controls.name() == name) return &controls;
  }
  return nullptr;
}

// The nodes of an antagonist follow from the subject and the experiment.
std::set<std::string> NodesOf(const ExperimentPlan& plan,
                              const Antagonist& antagonist) {
  DistributedSystemDescription test = plan.subject;
  *test.mutable_experiment() = plan.experiment;
  return NodesBeside(test, antagonist);
}

}  // namespace

CellTimes TimesOf(const ExperimentPlan& plan, const ExperimentCell& cell,
                  absl::Duration stabilise) {
  const PhaseDurations& phases = plan.phases;
  if (IsAlone(cell)) {
    return {.baseline = absl::ZeroDuration(),
            .interfere = absl::ZeroDuration(),
            .recover = phases.interfere,
            .end = phases.interfere};
  }
  CellTimes times;
  times.baseline = stabilise;
  times.interfere = times.baseline + phases.baseline;
  times.recover = times.interfere + phases.interfere;
  times.end = times.recover + phases.recover;
  return times;
}

double LoadPerSecond(const ExperimentPlan& plan, const ExperimentCell& cell,
                     double capacity) {
  if (IsAlone(cell)) return 0;
  if (cell.load().empty()) return plan.own_rate;
  const absl::StatusOr<ExperimentLoad> load = ParseExperimentLoad(cell.load());
  if (!load.ok()) return 0;  // not in a valid experiment
  return load->is_share ? load->value * capacity : load->value;
}

absl::StatusOr<DistributedSystemDescription> CellTest(
    const ExperimentPlan& plan, const ExperimentCell& cell,
    absl::Duration stabilise) {
  const CellTimes times = TimesOf(plan, cell, stabilise);
  absl::StatusOr<DistributedSystemDescription> test =
      SubjectAt(plan, cell, times.end);
  if (!test.ok()) return test.status();
  test->set_name(NameOf(plan, cell));
  if (const Antagonist* antagonist = FindAntagonist(plan, cell.antagonist())) {
    const AntagonistWindow window = {
        .start = times.interfere, .duration = times.recover - times.interfere};
    const absl::Status fits = CheckTimeOf(*antagonist, window.duration);
    if (!fits.ok()) return fits;
    AddAntagonist(*antagonist, NodesOf(plan, *antagonist), window, *test);
  }
  if (const ControlSet* controls = FindControls(plan, cell.controls())) {
    SetControls(*controls, *test);
  }
  TestSequence sequence;
  *sequence.add_tests() = *std::move(test);
  absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(std::move(sequence));
  if (!checked.ok()) return checked.status();
  return std::move(*checked->mutable_tests(0));
}

}  // namespace distbench::protection
