// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/search_plan.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/human_units.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/search/isolation_part.h"
#include "distbench/products/search/knobs/knob_name.h"
#include "distbench/products/search/system_copies.h"

namespace distbench::search {
namespace {

// Durations of probes are multiples of this, for readability.
constexpr absl::Duration kProbeUnit = absl::Milliseconds(100);

// Share of the samples that a probe near the limit needs.
constexpr double kRoughShare = 0.2;

// Probes are not lengthened beyond this multiple of length 1 to get more
// samples.
constexpr double kMaxLengthening = 10;

LoadSearchSpec MergeSpecs(const LoadSearchSpec& wins,
                          const LoadSearchSpec& other) {
  LoadSearchSpec merged = other;
  if (wins.objectives_size() > 0) merged.clear_objectives();
  merged.MergeFrom(wins);
  return merged;
}

void FillIn(const SearchPlan& plan, LoadSearchSpec& spec) {
  spec.set_knob(spec.knob());  // makes the default explicit
  spec.set_min_load(plan.options.min_load);
  spec.set_max_load(plan.options.max_load);
  spec.set_initial_load(plan.options.initial_load);
  spec.set_tolerance(plan.options.tolerance);
  spec.set_max_probes(plan.options.max_probes);
  spec.set_warmup_us(absl::ToInt64Microseconds(plan.timing.warmup));
  spec.set_probe_duration_us(absl::ToInt64Microseconds(plan.timing.probe));
  spec.set_final_duration_us(absl::ToInt64Microseconds(plan.timing.final_run));
  if (plan.timing.max_total != absl::InfiniteDuration()) {
    spec.set_max_time_us(absl::ToInt64Microseconds(plan.timing.max_total));
  }
}

// Isolation is that of the experiment's subject.
absl::Status CompleteIsolation(const DistributedSystemDescription& test,
                               config::Objective& objective) {
  if (!stats::IsIsolation(objective.metric)) return absl::OkStatus();
  const absl::StatusOr<const IsolationPart*> part = FindIsolationPart();
  return part.ok() ? (*part)->Complete(test, objective) : part.status();
}

absl::Status SetObjectives(const LoadSearchSpec& spec,
                           const DistributedSystemDescription& test,
                           SearchPlan& plan) {
  if (spec.objectives().empty()) {
    return absl::InvalidArgumentError(
        "there are no objectives: give --slo='my_rpc p95<=500ms', or "
        "objectives "
        "in the config's search");
  }
  for (const std::string& text : spec.objectives()) {
    absl::StatusOr<config::Objective> objective = config::ParseObjective(text);
    if (!objective.ok()) return objective.status();
    const absl::Status status = CompleteIsolation(test, *objective);
    if (!status.ok()) return status;
    plan.objectives.push_back(*std::move(objective));
  }
  return absl::OkStatus();
}

// Latencies rise as queues do; of shares, slopes say nothing about queues.
bool LimitsLatenciesOnly(const SearchPlan& plan) {
  using Kind = stats::Metric::Kind;
  return std::all_of(plan.objectives.begin(), plan.objectives.end(),
                     [](const config::Objective& objective) {
                       return objective.metric.kind == Kind::kPercentile ||
                              objective.metric.kind == Kind::kMean;
                     });
}

absl::Status SetLoads(const LoadSearchSpec& spec, SearchPlan& plan) {
  const Knob& knob = *plan.knob;
  const double copies = knob.is_rate() ? plan.instances : 1;
  SearchOptions& options = plan.options;
  options.queue_rate =
      knob.is_rate() && LimitsLatenciesOnly(plan) ? 1.0 / copies : 0;
  options.is_whole = knob.is_whole();
  options.finds_lowest = knob.finds_lowest();
  options.min_load =
      spec.has_min_load() ? spec.min_load() : std::max(1.0, knob.min_load());
  options.max_load =
      spec.has_max_load() ? spec.max_load() : knob.max_load() * copies;
  options.initial_load =
      spec.has_initial_load() ? spec.initial_load() : knob.base_load() * copies;
  if (options.is_whole) {
    options.min_load = std::ceil(options.min_load);
    options.max_load = std::floor(options.max_load);
    options.initial_load = std::round(options.initial_load);
  }
  if (!(options.min_load > 0) || options.min_load > options.max_load) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no load from ", base::NumberInFull(options.min_load), " to ",
        base::NumberInFull(options.max_load),
        "; the lowest one must be above 0, and not above the highest"));
  }
  if (options.min_load < knob.min_load() ||
      options.max_load > knob.max_load() * copies) {
    return absl::InvalidArgumentError(absl::StrCat(
        "loads from ", base::NumberInFull(options.min_load), " to ",
        base::NumberInFull(options.max_load),
        " are out of range; this knob goes from ",
        base::NumberInFull(knob.min_load()), " to ",
        base::NumberInFull(knob.max_load() * copies), " ", knob.unit()));
  }
  // The test's own load may be outside the requested range.
  options.initial_load =
      std::clamp(options.initial_load, options.min_load, options.max_load);
  return absl::OkStatus();
}

void SetTimes(const LoadSearchSpec& spec, SearchPlan& plan) {
  if (spec.has_tolerance()) plan.options.tolerance = spec.tolerance();
  if (spec.has_max_probes()) plan.options.max_probes = spec.max_probes();
  SearchTiming& timing = plan.timing;
  if (spec.has_warmup_us()) {
    timing.warmup = absl::Microseconds(spec.warmup_us());
  }
  if (spec.has_probe_duration_us()) {
    timing.probe = absl::Microseconds(spec.probe_duration_us());
  }
  if (spec.has_final_duration_us()) {
    timing.final_run = absl::Microseconds(spec.final_duration_us());
  }
  if (spec.has_max_time_us()) {
    timing.max_total = absl::Microseconds(spec.max_time_us());
  }
}

absl::Status CheckTest(DistributedSystemDescription test) {
  TestSequence sequence;
  *sequence.add_tests() = std::move(test);
  return config::CheckTestSequence(std::move(sequence)).status();
}

// Checks the test with the objectives, and all of its copies.
absl::Status CheckPlannedTest(const SearchPlan& plan) {
  const ProbeTiming timing = {.warmup = plan.timing.warmup,
                              .measured = plan.timing.probe};
  absl::StatusOr<DistributedSystemDescription> test =
      plan.knob->At(LoadOfCopy(plan, plan.options.initial_load), timing);
  if (!test.ok()) return test.status();
  // The objectives must refer to RPCs of the test.
  *test->mutable_search()->mutable_objectives() = plan.spec.objectives();
  absl::Status status = CheckTest(*std::move(test));
  if (!status.ok() || plan.instances == 1) return status;
  absl::StatusOr<DistributedSystemDescription> all =
      ProbeTest(plan, plan.options.initial_load, timing);
  return all.ok() ? CheckTest(*std::move(all)) : all.status();
}

absl::Duration UnitOf(const SearchPlan& plan, const ProbeRequest& request) {
  return request.phase == ProbePhase::kFinal ? plan.timing.final_run
                                             : plan.timing.probe;
}

// The number of RPCs that an objective needs; 0 if it is not about a
// percentile. Of messages, each stream counts once.
double NeededCount(const config::Objective& objective, int min_tail_samples) {
  const double percent = objective.metric.percent;
  return percent == 0 || !stats::IsOfRpc(objective.metric)
             ? 0
             : min_tail_samples / (1 - percent / 100);
}

}  // namespace

absl::StatusOr<SearchPlan> PlanSearch(const LoadSearchSpec& spec,
                                      const DistributedSystemDescription& test,
                                      int instances) {
  SearchPlan plan = {.spec = MergeSpecs(spec, test.search()),
                     .test = test,
                     .instances = instances};
  // Whose fields are in the spec.
  plan.test.clear_search();
  const absl::StatusOr<KnobName> name = ParseKnobName(plan.spec.knob());
  if (!name.ok()) return name.status();
  absl::StatusOr<std::unique_ptr<Knob>> knob = MakeKnob(*name, test);
  if (!knob.ok()) return knob.status();
  plan.knob = *std::move(knob);
  absl::Status status = SetObjectives(plan.spec, test, plan);
  if (status.ok()) status = SetLoads(plan.spec, plan);
  if (!status.ok()) return status;
  if (name->kind == KnobName::Kind::kControl && !MeasuresIsolation(plan)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the knob ", plan.spec.knob(),
        " varies controls, which hold only beside an antagonist; give an "
        "objective on isolation, such as isol_p05>=90%"));
  }
  SetTimes(plan.spec, plan);
  FillIn(plan, plan.spec);
  status = CheckPlannedTest(plan);
  if (!status.ok()) return status;
  return plan;
}

double LoadOfCopy(const SearchPlan& plan, double load) {
  return plan.knob->is_rate() ? load / plan.instances : load;
}

absl::Status RunLoads(std::vector<double> loads, SearchPlan& plan) {
  const Knob& knob = *plan.knob;
  for (const double load : loads) {
    const double of_copy = LoadOfCopy(plan, load);
    if (knob.is_whole() && load != std::round(load)) {
      return absl::InvalidArgumentError(
          absl::StrCat(base::NumberInFull(load), " is no load of the knob ",
                       plan.spec.knob(), ", whose loads are whole numbers"));
    }
    if (of_copy < knob.min_load() || of_copy > knob.max_load()) {
      const double copies = load / of_copy;
      return absl::InvalidArgumentError(absl::StrCat(
          base::NumberInFull(load), " is no load of the knob ",
          plan.spec.knob(), ", which goes from ",
          base::NumberInFull(knob.min_load() * copies), " to ",
          base::NumberInFull(knob.max_load() * copies), " ", knob.unit()));
    }
  }
  plan.loads = std::move(loads);
  return absl::OkStatus();
}

bool MeasuresIsolation(const SearchPlan& plan) {
  return std::any_of(plan.objectives.begin(), plan.objectives.end(),
                     [](const config::Objective& objective) {
                       return stats::IsIsolation(objective.metric);
                     });
}

absl::StatusOr<DistributedSystemDescription> ProbeTest(
    const SearchPlan& plan, double load, const ProbeTiming& timing) {
  const absl::StatusOr<DistributedSystemDescription> test =
      plan.knob->At(LoadOfCopy(plan, load), timing);
  if (!test.ok()) return test.status();
  DistributedSystemDescription all = ReplicateSystem(*test, plan.instances);
  const absl::Status bound = BindCopies(plan.cpu_slices, all);
  if (!bound.ok()) return bound;
  return all;
}

absl::Duration AskedTime(const SearchPlan& plan, const ProbeRequest& request) {
  return UnitOf(plan, request) * request.length;
}

absl::Duration ProbeTime(const SearchPlan& plan, const ProbeRequest& request,
                         double rate) {
  const absl::Duration asked = AskedTime(plan, request);
  // Warm-ups are not judged, and the loads of a list need not be proven.
  if (rate <= 0 || request.phase == ProbePhase::kWarmup ||
      !plan.loads.empty()) {
    return asked;
  }
  double needed_count = 0;
  for (const config::Objective& objective : plan.objectives) {
    needed_count = std::max(
        needed_count, NeededCount(objective, plan.timing.min_tail_samples));
  }
  // A bracket may be rough: its ends are far from the limit, or are measured
  // again.
  if (request.phase == ProbePhase::kBracket ||
      request.phase == ProbePhase::kRecovery) {
    needed_count *= kRoughShare;
  }
  return std::clamp(absl::Ceil(absl::Seconds(needed_count / rate), kProbeUnit),
                    asked,
                    std::max(asked, UnitOf(plan, request) * kMaxLengthening));
}

}  // namespace distbench::search
