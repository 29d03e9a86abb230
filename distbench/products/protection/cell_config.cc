// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/cell_config.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "distbench/base/time_units.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/protection/experiment/phases.h"
#include "distbench/products/protection/experiment/services.h"
#include "distbench/products/search/knobs/knob.h"
#include "distbench/products/search/knobs/knobs.h"

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

namespace {

// A part of the antagonist's work, which begins at one step of the ramp.
struct LoopPart {
  absl::Duration offset;

  // Absent: until the antagonist's end.
  std::optional<absl::Duration> duration;

  int parallel = 1;

  // Absent in a closed loop.
  std::optional<int64_t> interval_ns;
};

// Texts of a valid experiment can be read; these are never used for others.
absl::Duration RampOf(const Antagonist& antagonist) {
  if (!antagonist.has_ramp()) return absl::ZeroDuration();
  return config::ParseDurationWithUnit(antagonist.ramp())
      .value_or(absl::ZeroDuration());
}

std::optional<double> RateOf(const Antagonist& antagonist) {
  if (!antagonist.has_rate()) return std::nullopt;
  const auto rate = config::ParseRateWithUnit(antagonist.rate());
  return rate.ok() ? std::optional<double>(*rate) : std::nullopt;
}

int64_t IntervalNs(double rate) {
  return std::max<int64_t>(1, std::llround(base::kNsPerSecond / rate));
}

// Bursts take place at the multiples of their interval, so those of parts side
// by side would coincide. Instead, each part has a higher rate than the one
// before it, which ends. Each is long enough for a burst.
std::vector<LoopPart> BurstPartsOf(const Antagonist& antagonist, double rate) {
  const absl::Duration ramp = RampOf(antagonist);
  const double most = std::sqrt(rate * absl::ToDoubleSeconds(ramp));
  const int steps =
      static_cast<int>(std::clamp(most, 1.0, 1.0 * kRateRampSteps));
  std::vector<LoopPart> parts;
  for (int step = 0; step < steps; ++step) {
    LoopPart& part = parts.emplace_back();
    part.offset = ramp * step / steps;
    if (step + 1 < steps) {
      part.duration = ramp * (step + 1) / steps - part.offset;
    }
    part.parallel = antagonist.threads();
    part.interval_ns = IntervalNs(rate * (step + 1) / steps);
  }
  return parts;
}

std::vector<LoopPart> LoopPartsOf(const Antagonist& antagonist) {
  const absl::Duration ramp = RampOf(antagonist);
  const std::optional<double> rate = RateOf(antagonist);
  if (rate && IsIncast(antagonist)) return BurstPartsOf(antagonist, *rate);
  int steps = 1;
  if (ramp > absl::ZeroDuration()) {
    steps = rate ? kRateRampSteps : antagonist.threads();
  }
  std::vector<LoopPart> parts;
  for (int step = 0; step < steps; ++step) {
    LoopPart& part = parts.emplace_back();
    part.offset = ramp * step / steps;
    // The cap of an open loop is the number of threads, beyond which iterations
    // would only wait for one in the pool.
    part.parallel = rate || steps == 1 ? antagonist.threads() : 1;
    if (rate) part.interval_ns = IntervalNs(*rate / steps);
  }
  return parts;
}

class AntagonistBuilder {
 public:
  AntagonistBuilder(const Antagonist& antagonist,
                    const AntagonistWindow& window,
                    DistributedSystemDescription& test)
      : antagonist_(antagonist),
        window_(window),
        name_(AntagonistService(antagonist)),
        test_(test) {}

  void AddActivity(const std::set<std::string>& nodes) {
    AddService(name_, nodes.size() * antagonist_.instances());
    AddToBundles(nodes);
    AddPool();
    ActionList& list = AddList(name_);
    for (const LoopPart& part : LoopPartsOf(antagonist_)) {
      AddLoop(part, list).set_activity_config_name(name_);
    }
  }

  void AddIncast(const std::set<std::string>& nodes) {
    AddService(name_, nodes.size() * antagonist_.instances());
    AddToBundles(nodes);
    const std::string sender = SenderService(antagonist_);
    AddService(sender, antagonist_.senders());
    AddMessage(sender);
    ActionList& list = AddList(sender);
    for (const LoopPart& part : LoopPartsOf(antagonist_)) {
      Action& action = AddLoop(part, list);
      action.set_rpc_name(MessageName());
      if (!part.interval_ns) continue;
      // All senders at the same time, by the cluster's clock.
      action.mutable_iterations()->set_open_loop_interval_distribution(
          "sync_burst");
    }
  }

 private:
  // No service and no other antagonist can have a name with '/'.
  std::string MessageName() const { return absl::StrCat(name_, "/message"); }

  void AddService(const std::string& name, int64_t count) {
    ServiceSpec& service = *test_.add_services();
    service.set_name(name);
    service.set_count(static_cast<int32_t>(count));
  }

  // The instances of each node have consecutive numbers.
  void AddToBundles(const std::set<std::string>& nodes) {
    int number = 0;
    for (const std::string& node : nodes) {
      ServiceBundle& bundle = (*test_.mutable_node_service_bundles())[node];
      for (int i = 0; i < antagonist_.instances(); ++i) {
        bundle.add_services(absl::StrCat(name_, "/", number++));
      }
    }
  }

  // The activity as the test has it, in a pool of its own.
  void AddPool() {
    const int index = config::NameIndex(test_.activity_configs())
                          .Find(antagonist_.activity());
    ActivityConfig activity;
    if (index != config::kNone) activity = test_.activity_configs(index);
    activity.set_name(name_);
    activity.set_pool_name(name_);
    *test_.add_activity_configs() = std::move(activity);
    ActivityPoolSpec& pool = *test_.add_activity_pools();
    pool.set_name(name_);
    pool.set_size(antagonist_.threads());
  }

  void AddMessage(const std::string& sender) {
    PayloadSpec& payload = *test_.add_payload_descriptions();
    payload.set_name(MessageName());
    payload.set_size_with_unit(antagonist_.message_size());
    RpcSpec& rpc = *test_.add_rpc_descriptions();
    rpc.set_name(MessageName());
    rpc.add_client(sender);
    rpc.set_server(name_);
    rpc.set_request_payload_name(MessageName());
    AddList(MessageName());
  }

  ActionList& AddList(const std::string& name) {
    ActionList& list = *test_.add_action_lists();
    list.set_name(name);
    return list;
  }

  Action& AddLoop(const LoopPart& part, ActionList& list) {
    Action& action = *test_.add_actions();
    action.set_name(absl::StrCat(name_, "/", list.action_names_size()));
    list.add_action_names(action.name());
    AddDelay(window_.start + part.offset, action);
    Iterations& iterations = *action.mutable_iterations();
    iterations.set_max_duration_us(std::max<int64_t>(
        1, absl::ToInt64Microseconds(
               part.duration.value_or(window_.duration - part.offset))));
    iterations.set_max_parallel_iterations(part.parallel);
    if (part.interval_ns) {
      iterations.set_open_loop_interval_ns(*part.interval_ns);
    }
    return action;
  }

  void AddDelay(absl::Duration delay, Action& action) {
    if (delay <= absl::ZeroDuration()) return;
    DistributionConfig& distribution = *test_.add_delay_distribution_configs();
    distribution.set_name(action.name());
    auto& point = *distribution.add_pmf_points();
    point.set_pmf(1);
    point.add_data_points()->set_exact(absl::ToInt64Nanoseconds(delay));
    action.set_delay_distribution_name(action.name());
  }

  const Antagonist& antagonist_;
  const AntagonistWindow& window_;
  const std::string name_;
  DistributedSystemDescription& test_;
};

}  // namespace

std::set<std::string> NodesBeside(const DistributedSystemDescription& test,
                                  const Antagonist& antagonist) {
  const std::vector<std::string> services = ServicesBeside(test, antagonist);
  const std::map<std::string, std::string> nodes = NodesOfInstances(test);
  std::set<std::string> beside;
  for (const ServiceSpec& service : test.services()) {
    if (std::find(services.begin(), services.end(), service.name()) ==
        services.end()) {
      continue;
    }
    for (const std::string& instance : config::InstanceNames(service)) {
      beside.insert(nodes.at(instance));
    }
  }
  return beside;
}

void BundleSubject(DistributedSystemDescription& test) {
  std::set<std::string> shared;
  for (const Antagonist& antagonist : test.experiment().antagonists()) {
    shared.merge(NodesBeside(test, antagonist));
  }
  // Nodes with a bundle keep it; others have one instance.
  std::set<std::string> bundled;
  for (const auto& [alias, bundle] : test.node_service_bundles()) {
    if (!bundle.services().empty()) bundled.insert(alias);
  }
  for (const auto& [instance, node] : NodesOfInstances(test)) {
    if (!shared.contains(node) || bundled.contains(node)) continue;
    (*test.mutable_node_service_bundles())[node].add_services(instance);
  }
}

absl::Status CheckTimeOf(const Antagonist& antagonist,
                         absl::Duration duration) {
  const auto error = [&](absl::string_view what, absl::Duration time) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the antagonist ", antagonist.name(), " has ", what, " ",
        absl::FormatDuration(time), ", and would work for only ",
        absl::FormatDuration(duration), "; shorten that, or lengthen this"));
  };
  if (RampOf(antagonist) > duration) {
    return error("a ramp of", RampOf(antagonist));
  }
  const std::optional<double> rate = RateOf(antagonist);
  if (!rate || !IsIncast(antagonist)) return absl::OkStatus();
  const absl::Duration interval = absl::Nanoseconds(IntervalNs(*rate));
  return interval > duration ? error("a burst every", interval)
                             : absl::OkStatus();
}

void AddAntagonist(const Antagonist& antagonist,
                   const std::set<std::string>& nodes,
                   const AntagonistWindow& window,
                   DistributedSystemDescription& test) {
  AntagonistBuilder builder(antagonist, window, test);
  IsIncast(antagonist) ? builder.AddIncast(nodes) : builder.AddActivity(nodes);
}

}  // namespace distbench::protection
