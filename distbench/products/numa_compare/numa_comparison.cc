#include "distbench/products/numa_compare/numa_comparison.h"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/products/numa_compare/local_cluster.h"
#include "distbench/products/search/runners.h"
#include "distbench/products/search/search_run.h"

namespace distbench::numa_compare {
namespace {

// What is repeated: searches of one deployment under one objective.
struct Turn {
  const PlannedDeployment* planned;
  std::string objective;
  NumaDeployment* deployment;
  google::protobuf::RepeatedPtrField<SearchReport>* searches;
};

// Adds the deployments of the plan, of which all turns are returned.
std::vector<Turn> AddDeployments(const DeploymentPlan& plan,
                                 const NumaComparisonOptions& options,
                                 NumaComparison& comparison) {
  std::vector<Turn> turns;
  for (const PlannedDeployment& planned : plan.deployments) {
    NumaDeployment& deployment = *comparison.add_deployments();
    deployment.set_name(planned.name);
    deployment.set_instances(planned.instances);
    deployment.set_workers_per_instance(planned.workers_per_instance);
    turns.push_back({&planned, options.cpu_objective, &deployment,
                     deployment.mutable_cpu_target_searches()});
    if (options.latency_objective.empty()) continue;
    turns.push_back({&planned, options.latency_objective, &deployment,
                     deployment.mutable_objective_searches()});
  }
  return turns;
}

// Emulators have their own names for their processors.
void WarnOfEmulation(const HostFacts& host, NumaComparison& comparison) {
  if (!absl::StrContains(host.cpu_model(), "QEMU")) return;
  const std::string warning = absl::StrCat(
      "The CPUs are emulated (", host.cpu_model(),
      "): loads, latencies and ratios are the emulator's and say nothing about "
      "the speed of any machine. Only the placement of threads and memory is "
      "meaningful.");
  if (absl::c_linear_search(comparison.omissions(), warning)) return;
  comparison.add_omissions(warning);
}

void KeepFailure(const CapacityQuestion& question, const absl::Status& status,
                 const Turn& turn, NumaComparison& comparison) {
  SearchReport& search = *turn.searches->Add();
  search.mutable_search()->add_objectives(question.objective);
  search.set_verdict(kFailedVerdict);
  search.set_evidence(std::string(status.message()));
  comparison.add_omissions(
      absl::StrCat("Search ", question.number, " of ", question.count, " (",
                   question.deployment->name, ", ", question.objective,
                   ") failed and is not counted: ", status.message(), "."));
}

// Keeps the search, and its last run.
void Keep(TestSequenceResults found, const Turn& turn, int repetition,
          TestSequenceResults& results) {
  *turn.searches->Add() = std::move(*found.mutable_searches(0));
  if (found.test_results().empty()) return;
  TestResult& run = *results.add_test_results();
  run = std::move(*found.mutable_test_results()->rbegin());
  run.mutable_run_info()->set_repetition(repetition);
  for (const auto& [node, resources] :
       run.resource_usage_logs().node_resources()) {
    for (const auto& [instance, proof] : resources.binding_proofs()) {
      (*turn.deployment->mutable_binding_proofs())[instance] = proof;
    }
    WarnOfEmulation(resources.host(), *results.mutable_numa_comparison());
  }
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
  const std::vector<Turn> turns = AddDeployments(plan, options, comparison);
  std::mt19937_64 random(options.seed);
  int number = 0;
  int failed_count = 0;
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    std::vector<Turn> shuffled = turns;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    for (const Turn& turn : shuffled) {
      const CapacityQuestion question = {
          .deployment = turn.planned,
          .objective = turn.objective,
          .repetition = repetition,
          .number = ++number,
          .count = options.repetitions * static_cast<int>(turns.size())};
      absl::StatusOr<TestSequenceResults> found = search(question);
      if (absl::IsCancelled(found.status())) return found.status();
      if (found.ok()) {
        Keep(*std::move(found), turn, repetition, results);
      } else {
        ++failed_count;
        KeepFailure(question, found.status(), turn, comparison);
      }
    }
  }
  if (failed_count == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(failed_count, " of ", number,
                                         " searches failed; see the notes"));
}

absl::StatusOr<TestSequenceResults> LocalCapacitySearch::Search(
    const CapacityQuestion& question) {
  const PlannedDeployment& deployment = *question.deployment;
  say_(absl::StrFormat("Search %d of %d: %s, %s, repetition %d",
                       question.number, question.count, deployment.name,
                       question.objective, question.repetition + 1));
  const absl::StatusOr<search::SearchPlan> plan =
      PlanCapacitySearch(spec_, question.objective, deployment.test);
  if (!plan.ok()) return plan.status();
  const absl::StatusOr<std::unique_ptr<LocalCluster>> cluster =
      LocalCluster::Start(program_, deployment.node_flags);
  if (!cluster.ok()) return cluster.status();
  const absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect((*cluster)->address(), (*cluster)->tls());
  if (!client.ok()) return client.status();
  return Search(*plan, **client);
}

absl::StatusOr<TestSequenceResults> LocalCapacitySearch::Search(
    const search::SearchPlan& plan, client::TestClient& client) {
  {
    absl::MutexLock lock(&mutex_);
    if (is_cancelled_) return absl::CancelledError("cancelled");
    client_ = &client;
  }
  search::SearchCallbacks callbacks;
  callbacks.run = search::RunOnSequencer(client);
  callbacks.observe = [&](const SearchReport&, const SearchProbe& probe) {
    say_(absl::StrFormat("  %s at %.6g per second: %s, %s", probe.phase(),
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
  return results;
}

void LocalCapacitySearch::Cancel() {
  absl::MutexLock lock(&mutex_);
  is_cancelled_ = true;
  if (client_ != nullptr) client_->Cancel();
}

}  // namespace distbench::numa_compare
