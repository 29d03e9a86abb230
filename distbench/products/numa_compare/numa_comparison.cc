#include "distbench/products/numa_compare/numa_comparison.h"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/products/numa_compare/local_cluster.h"
#include "distbench/products/search/runners.h"
#include "distbench/products/search/search_run.h"

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

absl::StatusOr<search::SearchPlan> PlanCapacitySearch(
    LoadSearchSpec spec, const std::string& objective,
    const DistributedSystemDescription& test) {
  spec.add_objectives(objective);
  return search::PlanSearch(spec, test);
}

}  // namespace

std::string CpuObjective(double percent) {
  return absl::StrFormat("cpu<=%g%%", percent);
}

absl::Status CheckSearches(const NumaComparisonOptions& options,
                           const DistributedSystemDescription& test) {
  absl::Status status;
  for (const std::string& objective :
       {options.cpu_objective, options.latency_objective}) {
    if (objective.empty()) continue;
    status.Update(PlanCapacitySearch(options.search, objective, test).status());
  }
  return status;
}

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

absl::StatusOr<CapacityAnswer> LocalCapacitySearch::Search(
    const CapacityQuestion& question) {
  const PlannedDeployment& deployment = *question.deployment;
  const absl::StatusOr<search::SearchPlan> plan =
      PlanCapacitySearch(spec_, question.objective, deployment.test);
  if (!plan.ok()) return plan.status();
  const absl::StatusOr<std::unique_ptr<LocalCluster>> cluster =
      LocalCluster::Start(program_, deployment.node_flags);
  if (!cluster.ok()) return cluster.status();
  const absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect((*cluster)->address());
  if (!client.ok()) return client.status();
  return Search(*plan, **client);
}

absl::StatusOr<CapacityAnswer> LocalCapacitySearch::Search(
    const search::SearchPlan& plan, client::TestClient& client) {
  {
    absl::MutexLock lock(&mutex_);
    if (is_cancelled_) return absl::CancelledError("cancelled");
    client_ = &client;
  }
  search::SearchCallbacks callbacks;
  callbacks.run = search::RunOnSequencer(client);
  callbacks.observe = [&](const SearchReport&, const SearchProbe& probe) {
    observe_(absl::StrFormat("  %s at %.6g per second: %s, %s", probe.phase(),
                             probe.requested_load(), probe.outcome(),
                             absl::StrJoin(probe.measured(), ", ")));
  };
  TestSequenceResults results;
  const absl::Status status = search::RunLoadSearch(plan, callbacks, results);
  {
    absl::MutexLock lock(&mutex_);
    client_ = nullptr;
  }
  if (!status.ok()) return status;
  if (results.searches(0).verdict() == search::kInvalidVerdict) {
    return absl::AbortedError(results.searches(0).evidence());
  }
  CapacityAnswer answer;
  if (!results.test_results().empty()) {
    answer.final_run = std::move(*results.mutable_test_results()->rbegin());
  }
  answer.search = std::move(*results.mutable_searches(0));
  return answer;
}

void LocalCapacitySearch::Cancel() {
  absl::MutexLock lock(&mutex_);
  is_cancelled_ = true;
  if (client_ != nullptr) client_->Cancel();
}

}  // namespace distbench::numa_compare
