#include "distbench/products/numa_compare/capacity_search.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/products/numa_compare/local_cluster.h"
#include "distbench/products/search/search_plan.h"
#include "distbench/products/search/sequencer_runner.h"

namespace distbench::numa_compare {

absl::StatusOr<CapacityAnswer> LocalCapacitySearch::Search(
    const CapacityQuestion& question) {
  const PlannedDeployment& deployment = *question.deployment;
  LoadSearchSpec spec = spec_;
  spec.add_objectives(question.objective);
  const absl::StatusOr<search::SearchPlan> plan =
      search::PlanSearch(spec, deployment.test);
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
