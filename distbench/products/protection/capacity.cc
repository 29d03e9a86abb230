#include "distbench/products/protection/capacity.h"

#include <string>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/products/protection/experiment/phases.h"
#include "distbench/products/search/strategy/load_search.h"

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

bool IsAnswer(const SearchReport& report) {
  return report.has_load() &&
         (report.verdict() ==
              search::ToString(search::SearchVerdict::kConverged) ||
          report.verdict() ==
              search::ToString(search::SearchVerdict::kUpperBoundHit));
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

absl::StatusOr<double> FindCapacity(const ExperimentPlan& plan,
                                    const search::SearchPlan& search_plan,
                                    const search::SearchCallbacks& callbacks,
                                    TestSequenceResults& results) {
  const absl::Status status =
      search::RunLoadSearch(search_plan, callbacks, results);
  if (!status.ok()) return status;
  const SearchReport& report = results.searches(0);
  if (!IsAnswer(report)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the capacity of the subject was not found: ", report.verdict(), ": ",
        report.evidence(),
        ". Give experiment.subject.capacity, or loads as rates"));
  }
  return report.load() / LoadPerRequest(search_plan, plan);
}

}  // namespace distbench::protection
