// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/experiment_plan.h"


#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/products/protection/cell_config.h"
#include "distbench/products/protection/experiment/cells.h"
#include "distbench/products/protection/experiment/services.h"

namespace distbench::protection {
namespace {

// The experiment with its defaults, except for loads: their absence is a cell
// of its own kind.
Experiment Complete(const DistributedSystemDescription& test,
                    const PhaseDurations& phases) {
  Experiment experiment = test.experiment();
  ExperimentSubject& subject = *experiment.mutable_subject();
  subject.set_rpc(SubjectRpc(test));
  if (subject.services().empty()) {
    for (const RpcSpec& rpc : test.rpc_descriptions()) {
      if (rpc.name() == subject.rpc()) subject.add_services(rpc.server());
    }
  }
  if (experiment.controls().empty()) {
    experiment.add_controls()->set_name(kNoControls);
  }
  for (ControlSet& controls : *experiment.mutable_controls()) {
    controls.set_strict(controls.strict());
  }
  for (Antagonist& antagonist : *experiment.mutable_antagonists()) {
    antagonist.set_instances(antagonist.instances());
    antagonist.set_threads(antagonist.threads());
    if (IsIncast(antagonist)) antagonist.set_senders(antagonist.senders());
  }
  *experiment.mutable_phases() = FormatPhases(phases);
  experiment.set_repeat(experiment.repeat());
  return experiment;
}

// The test without what is not for a cell: its own objectives would judge the
// interference as well, and its search is another experiment.
DistributedSystemDescription SubjectOf(const DistributedSystemDescription& test,
                                       const ExperimentOptions& options) {
  DistributedSystemDescription subject = test;
  BundleSubject(subject);
  subject.clear_experiment();
  subject.clear_objectives();
  subject.set_random_seed(options.seed);
  if (!subject.has_workers_per_instance() && options.workers_per_instance > 0) {
    subject.set_workers_per_instance(options.workers_per_instance);
  }
  return subject;
}

// Makes the test of each cell once. The load hardly matters for its checks, so
// that shares of an unknown capacity can be checked, too.
absl::Status CheckCells(const ExperimentPlan& plan) {
  Experiment once = plan.experiment;
  once.set_repeat(1);
  for (ExperimentCell& cell : ListCells(once, plan.seed)) {
    cell.set_load_per_second(LoadPerSecond(plan, cell, plan.own_rate));
    const absl::Status status =
        CellTest(plan, cell, plan.phases.stabilise).status();
    if (status.ok()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the experiment's cell (", DescribeCell(cell),
                     ") would be a test with problems:\n", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ExperimentPlan> PlanExperiment(
    const DistributedSystemDescription& test,
    const ExperimentOptions& options) {
  if (!test.has_experiment()) {
    return absl::InvalidArgumentError(
        "the test has no experiment; add one, as docs/products/protection.md "
        "shows");
  }
  ExperimentPlan plan;
  plan.phases = ReadPhases(test.experiment().phases());
  plan.experiment = Complete(test, plan.phases);
  plan.seed = options.seed;
  plan.has_own_seed = test.has_random_seed();
  plan.rpc = plan.experiment.subject().rpc();
  plan.own_rate = OpenLoopRate(test, plan.rpc);
  plan.subject = SubjectOf(test, options);
  if (absl::Status status = CheckCells(plan); !status.ok()) return status;
  return plan;
}

}  // namespace distbench::protection
