#include "distbench/products/numa_compare/numa_comparison.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace distbench::numa_compare {
namespace {

struct Turn {
  int deployment;
  bool is_cpu_target;
};

std::vector<Turn> TurnsOf(const DeploymentPlan& plan,
                          const NumaComparisonOptions& options,
                          std::mt19937_64& random) {
  std::vector<Turn> turns;
  for (int i = 0; i < plan.deployments.size(); ++i) {
    turns.push_back({i, true});
    if (!options.latency_objective.empty()) turns.push_back({i, false});
  }
  std::shuffle(turns.begin(), turns.end(), random);
  return turns;
}

void AddOnce(const std::string& omission, NumaComparison& comparison) {
  const auto& all = comparison.omissions();
  if (std::find(all.begin(), all.end(), omission) != all.end()) return;
  comparison.add_omissions(omission);
}

// Emulators have their own names for their processors.
void WarnOfEmulation(const TestResult& run, NumaComparison& comparison) {
  for (const auto& [node, resources] :
       run.resource_usage_logs().node_resources()) {
    const std::string& model = resources.host().cpu_model();
    if (!absl::StrContains(model, "QEMU")) continue;
    AddOnce(absl::StrCat("The CPUs are emulated (", model,
                         "): loads, latencies and ratios are the emulator's "
                         "and say nothing about the speed of any machine. Only "
                         "the placement of threads and memory is meaningful."),
            comparison);
  }
}

SearchReport& AddSearch(const Turn& turn, NumaComparison& comparison) {
  NumaDeployment& deployment = *comparison.mutable_deployments(turn.deployment);
  return turn.is_cpu_target ? *deployment.add_cpu_target_searches()
                            : *deployment.add_objective_searches();
}

void KeepFailure(const CapacityQuestion& question, const absl::Status& status,
                 const Turn& turn, NumaComparison& comparison) {
  SearchReport& search = AddSearch(turn, comparison);
  search.mutable_search()->add_objectives(question.objective);
  search.set_verdict(kFailedVerdict);
  search.set_evidence(std::string(status.message()));
  comparison.add_omissions(
      absl::StrCat("Search ", question.number, " of ", question.count, " (",
                   question.deployment->name, ", ", question.objective,
                   ") failed and is not counted: ", status.message(), "."));
}

void Keep(CapacityAnswer answer, const Turn& turn, int repetition,
          TestSequenceResults& results) {
  NumaComparison& comparison = *results.mutable_numa_comparison();
  AddSearch(turn, comparison) = std::move(answer.search);
  NumaDeployment& deployment = *comparison.mutable_deployments(turn.deployment);
  for (const auto& [node, resources] :
       answer.final_run.resource_usage_logs().node_resources()) {
    for (const auto& [instance, proof] : resources.binding_proofs()) {
      (*deployment.mutable_binding_proofs())[instance] = proof;
    }
  }
  WarnOfEmulation(answer.final_run, comparison);
  answer.final_run.mutable_run_info()->set_repetition(repetition);
  *results.add_test_results() = std::move(answer.final_run);
}

}  // namespace

absl::Status RunNumaComparison(const DeploymentPlan& plan,
                               const NumaComparisonOptions& options,
                               const CapacitySearch& search,
                               TestSequenceResults& results) {
  NumaComparison& comparison = *results.mutable_numa_comparison();
  for (const std::string& omission : plan.omissions) {
    comparison.add_omissions(omission);
  }
  for (const PlannedDeployment& planned : plan.deployments) {
    NumaDeployment& deployment = *comparison.add_deployments();
    deployment.set_name(planned.name);
    deployment.set_instances(planned.instances);
    deployment.set_workers_per_instance(planned.workers_per_instance);
  }
  std::mt19937_64 random(options.seed);
  int number = 0;
  int failed_count = 0;
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    const std::vector<Turn> turns = TurnsOf(plan, options, random);
    for (const Turn& turn : turns) {
      const CapacityQuestion question = {
          .deployment = &plan.deployments[turn.deployment],
          .objective = turn.is_cpu_target ? options.cpu_objective
                                          : options.latency_objective,
          .repetition = repetition,
          .number = ++number,
          .count = options.repetitions * static_cast<int>(turns.size())};
      absl::StatusOr<CapacityAnswer> answer = search(question);
      if (absl::IsCancelled(answer.status())) return answer.status();
      if (answer.ok()) {
        Keep(*std::move(answer), turn, repetition, results);
      } else {
        ++failed_count;
        KeepFailure(question, answer.status(), turn, comparison);
      }
    }
  }
  if (failed_count == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(failed_count, " of ", number,
                                         " searches failed; see the notes"));
}

}  // namespace distbench::numa_compare
