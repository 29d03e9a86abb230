// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to load searches: objectives on isolation, and knobs
// of controls.

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/plugins.h"
#include "distbench/products/protection/control_knob.h"
#include "distbench/products/protection/experiment/services.h"
#include "distbench/products/protection/experiment_searches.h"
#include "distbench/products/protection/measures/phases.h"
#include "distbench/products/protection/measures/run.h"
#include "distbench/products/protection/subject_record.h"
#include "distbench/products/search/isolation_part.h"
#include "distbench/products/search/knobs/knob.h"
#include "distbench/results/run_failure.h"

namespace distbench::protection {
namespace {

class SearchPart final : public search::IsolationPart {
 public:
  absl::Status Complete(const DistributedSystemDescription& test,
                        config::Objective& objective) const override {
    if (!test.has_experiment()) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", objective.text,
                       "\" needs an antagonist; add an `experiment` to the "
                       "test"));
    }
    Experiment experiment = test.experiment();
    experiment.mutable_subject()->set_rpc(SubjectRpc(test));
    const absl::StatusOr<ProtectionSubject> subject = SubjectOf(experiment);
    if (!subject.ok()) return subject.status();
    objective.rpc = subject->rpc;
    objective.served_within_ns = subject->limit_ns;
    return absl::OkStatus();
  }

  absl::StatusOr<search::SearchPlan> Plan(
      const LoadSearchSpec& spec, const DistributedSystemDescription& test,
      const search::CellChoice& choice,
      const GetStatusResponse& status) const override {
    return PlanIsolationSearch(
        spec, test, choice,
        {.seed = test.random_seed(),
         .workers_per_instance = WorkersOfSubject(test, status)});
  }

  bool LostSubject(const TestResult& result) const override {
    return results::FailureOf(result) && protection::LostSubject(result);
  }
};

class Knobs final : public search::ControlKnobs {
 public:
  absl::StatusOr<std::unique_ptr<search::Knob>> Make(
      absl::string_view control_set, absl::string_view setting,
      const DistributedSystemDescription& test) const override {
    absl::StatusOr<ControlSetting> found =
        FindControlSetting(test, control_set, setting);
    if (!found.ok()) return found.status();
    return std::make_unique<ControlKnob>(test, *std::move(found));
  }
};

const base::Plugin<search::ControlKnobs> kKnobs("protection", new Knobs);
const base::Plugin<search::IsolationPart> kSearchPart("protection",
                                                      new SearchPart);

}  // namespace
}  // namespace distbench::protection
