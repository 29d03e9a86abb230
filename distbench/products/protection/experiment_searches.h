// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Load searches of an experiment: the capacity of its subject, and the load
// with which it keeps its isolation.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_SEARCHES_H_
#define DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_SEARCHES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/products/protection/experiment_plan.h"
#include "distbench/products/search/isolation_part.h"
#include "distbench/products/search/knobs/knob.h"
#include "distbench/products/search/search_plan.h"
#include "distbench/products/search/search_run.h"
#include "proto/experiment.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

// The capacity of an experiment's subject: the rate of its RPC that it carries
// alone within its objective.

// Whether any load is a share of the capacity.
bool NeedsCapacity(const ExperimentPlan& plan);

// The search for the capacity, without controls and antagonists. Its settings
// are those of the test's `search`, if that varies the rate. INVALID_ARGUMENT
// if there is no such search.
absl::StatusOr<search::SearchPlan> PlanCapacitySearch(
    const ExperimentPlan& plan);

// Requests per second of the subject's RPC that the search has found.
// FAILED_PRECONDITION if it has not found any.
absl::StatusOr<double> CapacityOf(const ExperimentPlan& plan,
                                  const search::SearchPlan& search_plan,
                                  const SearchReport& report);

// The same of a search that begins or continues in `results`. These must have
// no run of a cell yet, because a run of the search is kept among their runs.
absl::StatusOr<double> FindCapacity(const ExperimentPlan& plan,
                                    const search::SearchPlan& search_plan,
                                    const search::SearchCallbacks& callbacks,
                                    TestSequenceResults& results);

// Searches for the highest load, or the weakest control, with which a service
// keeps its isolation. Every probe is a run of a cell of the test's experiment.

// Plans a search, as PlanSearch() does, whose objectives include isolation.
// Loads of the experiment do not apply: the knob or the test sets the load.
//
// The warm-up of a probe consists of the time in which the subject gets steady
// and of the baseline; what is measured is the time beside the antagonist.
// Where neither `spec` nor the test's search says how long they are, the phases
// of the experiment do. INVALID_ARGUMENT also if the choice is not clear.
absl::StatusOr<search::SearchPlan> PlanIsolationSearch(
    const LoadSearchSpec& spec, const DistributedSystemDescription& test,
    const search::CellChoice& choice, const ExperimentOptions& options);

// A knob whose tests are cells.
class CellKnob final : public search::Knob {
 public:
  // `knob` is one of the experiment's test; `cell` names controls and
  // antagonist of the experiment. `baseline` is the end of each warm-up.
  CellKnob(std::unique_ptr<search::Knob> knob, ExperimentCell cell,
           absl::Duration baseline, ExperimentOptions options);

  absl::string_view unit() const override { return knob_->unit(); }
  double base_load() const override { return knob_->base_load(); }
  double min_load() const override { return knob_->min_load(); }
  double max_load() const override { return knob_->max_load(); }
  bool is_whole() const override { return knob_->is_whole(); }
  bool is_rate() const override { return knob_->is_rate(); }
  bool raises_rate() const override { return knob_->raises_rate(); }
  bool finds_lowest() const override { return knob_->finds_lowest(); }

  // INVALID_ARGUMENT also if the warm-up is shorter than the baseline, or the
  // measured time shorter than the antagonist's ramp.
  absl::StatusOr<DistributedSystemDescription> At(
      double load, const search::ProbeTiming& timing) const override;

  // Sets the result's experiment_cell.
  void Label(const search::ProbeTiming& timing,
             TestResult& result) const override;

 private:
  const std::unique_ptr<search::Knob> knob_;
  const ExperimentCell cell_;
  const absl::Duration baseline_;
  const ExperimentOptions options_;
};

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_SEARCHES_H_
