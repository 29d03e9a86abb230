// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/numa_compare/numa_compare.h"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/base/human_units.h"
#include "distbench/cli/local_cluster.h"
#include "distbench/client/test_client.h"
#include "distbench/products/search/report/search_text.h"
#include "distbench/products/search/report/searches.h"
#include "distbench/products/search/resumption.h"
#include "distbench/products/search/runners.h"
#include "distbench/products/search/search_run.h"
#include "distbench/report/comparison/capacity.h"
#include "distbench/report/derived/derive.h"
#include "distbench/report/derived/figures.h"
#include "distbench/results/walk.h"

namespace distbench::numa_compare {
namespace {

using SearchReports = google::protobuf::RepeatedPtrField<SearchReport>;

// ---- Running the searches ---------------------------------------------------

// Begins the comparison, unless results have it already.
absl::Status Begin(const NumaPlan& plan, NumaComparison& comparison) {
  NumaComparison asked;
  for (const PlannedDeployment& planned : plan.deployments) {
    *asked.add_deployments() = planned.description;
  }
  if (comparison.deployments().empty()) {
    *comparison.mutable_deployments() = asked.deployments();
  }
  NumaComparison begun;
  for (const NumaDeployment& deployment : comparison.deployments()) {
    NumaDeployment& description = *begun.add_deployments() = deployment;
    description.clear_cpu_target_searches();
    description.clear_objective_searches();
    description.clear_binding_proofs();
  }
  comparison.mutable_omissions()->Assign(plan.omissions.begin(),
                                         plan.omissions.end());
  return search::CheckSame("it comes from another comparison", begun, asked);
}

bool WasMade(int repetition, const SearchReports& searches) {
  return repetition < searches.size() &&
         searches[repetition].verdict() != kFailedVerdict;
}

// Where the search of the repetition is kept, perhaps in place of one that
// failed.
SearchReport& PlaceOf(int repetition, SearchReports& searches) {
  return repetition < searches.size() ? searches[repetition] : *searches.Add();
}

// Keeps the search, and its last run, which shows where the instances were.
void Keep(TestSequenceResults found, int repetition, SearchReports& searches,
          NumaDeployment& deployment, TestSequenceResults& results) {
  PlaceOf(repetition, searches) = std::move(*found.mutable_searches(0));
  if (found.test_results().empty()) return;
  TestResult& run = *results.add_test_results();
  run = std::move(*found.mutable_test_results()->rbegin());
  run.mutable_run_info()->set_repetition(repetition);
  for (const auto& [node, resources] :
       run.resource_usage_logs().node_resources()) {
    for (const auto& [instance, proof] : resources.binding_proofs()) {
      (*deployment.mutable_binding_proofs())[instance] = proof;
    }
  }
}

}  // namespace

absl::Status RunNumaComparison(const NumaPlan& plan, int repetitions,
                               uint64_t seed, const CapacitySearch& search,
                               TestSequenceResults& results) {
  NumaComparison& comparison = *results.mutable_numa_comparison();
  if (absl::Status begun = Begin(plan, comparison); !begun.ok()) return begun;
  std::vector<std::pair<int, int>> questions;  // deployment, and its search
  for (size_t deployment = 0; deployment < plan.deployments.size();
       ++deployment) {
    const size_t searches = plan.deployments[deployment].searches.size();
    for (size_t i = 0; i < searches; ++i) {
      questions.push_back({static_cast<int>(deployment), static_cast<int>(i)});
    }
  }
  std::mt19937_64 random(seed);
  int number = 0;
  int failed_count = 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    std::vector<std::pair<int, int>> shuffled = questions;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    for (const auto& [position, which] : shuffled) {
      const PlannedDeployment& planned = plan.deployments[position];
      const search::SearchPlan& asked = planned.searches[which];
      const std::string& objective = asked.spec.objectives(0);
      const std::string title = absl::StrFormat(
          "Search %d of %d: %s, %s, repetition %d", ++number,
          repetitions * questions.size(), planned.description.name(), objective,
          repetition + 1);
      NumaDeployment& deployment = *comparison.mutable_deployments(position);
      SearchReports& searches = which == 0
                                    ? *deployment.mutable_cpu_target_searches()
                                    : *deployment.mutable_objective_searches();
      if (WasMade(repetition, searches)) continue;
      absl::StatusOr<TestSequenceResults> found = search(planned, asked, title);
      if (absl::IsCancelled(found.status())) return found.status();
      if (found.ok()) {
        Keep(*std::move(found), repetition, searches, deployment, results);
        continue;
      }
      ++failed_count;
      const std::string why(found.status().message());
      SearchReport& failed = PlaceOf(repetition, searches);
      failed.Clear();
      failed.mutable_search()->add_objectives(objective);
      failed.set_verdict(kFailedVerdict);
      failed.set_evidence(why);
      comparison.add_omissions(
          absl::StrCat(title, ": failed and is not counted: ", why, "."));
    }
  }
  if (failed_count == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(failed_count, " of ", number,
                                         " searches failed; see the notes"));
}

CapacitySearch SearchLocally(
    std::string program, std::function<void(const std::string& line)> say,
    std::function<void(std::function<void()> handler)> set_stop_handler) {
  return [program = std::move(program), say = std::move(say),
          set_stop_handler = std::move(set_stop_handler)](
             const PlannedDeployment& deployment,
             const search::SearchPlan& search,
             const std::string& title) -> absl::StatusOr<TestSequenceResults> {
    say(title);
    const absl::StatusOr<std::unique_ptr<cli::LocalCluster>> cluster =
        cli::LocalCluster::Start(program, deployment.node_flags);
    if (!cluster.ok()) return cluster.status();
    const absl::StatusOr<std::unique_ptr<client::TestClient>> client =
        client::TestClient::Connect((*cluster)->address(), (*cluster)->tls());
    if (!client.ok()) return client.status();
    search::SearchCallbacks callbacks;
    callbacks.run = search::RunOnSequencer(**client);
    callbacks.observe = [&](const SearchReport&, const SearchProbe& probe,
                            const search::Bracket&) {
      say(search::ProbeText(probe));
    };
    TestSequenceResults results;
    set_stop_handler([&client] { (*client)->Cancel(); });
    const absl::Status status =
        search::RunLoadSearch(search, callbacks, results);
    set_stop_handler({});
    if (!status.ok()) return status;
    if (results.searches(0).verdict() == search::kInvalidVerdict) {
      return absl::AbortedError(results.searches(0).evidence());
    }
    return results;
  };
}

// ---- What reports say of them -----------------------------------------------

namespace {

using Capacity = ReportedNumaComparison::Capacity;

report::CapacityComparison Compare(const SearchReports& base,
                                   const SearchReports& next) {
  search::Searches sides[2];
  for (const SearchReport& search : base) sides[0].push_back(&search);
  for (const SearchReport& search : next) sides[1].push_back(&search);
  return search::CompareQuestion(
      next.empty() ? "" : search::QuestionOf(next[0]), sides[0], sides[1]);
}

// `first`: the searches to compare with; null if these are the first ones.
void ReportCapacity(const SearchReports& searches, const SearchReports* first,
                    Capacity& capacity) {
  for (const SearchReport& search : searches) {
    capacity.set_objective(absl::StrJoin(search.search().objectives(), ", "));
    if (search.has_load_unit()) capacity.set_unit(search.load_unit());
    auto& added = *capacity.add_searches();
    report::CopyByName(search, added);
    added.set_probe_count(search.probes_size());
  }
  for (const report::CapacityRatio& ratio :
       Compare(searches, searches).ratios) {
    if (report::IsLoad(ratio)) capacity.set_load(ratio.next);
    if (ratio.name == "mean") capacity.set_mean_latency_ns(ratio.next);
  }
  if (first == nullptr) return;
  for (const report::CapacityRatio& ratio : Compare(*first, searches).ratios) {
    if (!report::IsLoad(ratio) && ratio.name != "mean") continue;
    const char* const name =
        report::IsLoad(ratio) ? "ratio" : "mean_latency_ratio";
    report::SetDifference(ratio.ratio, name, absl::StrCat(name, "_"), capacity);
  }
}

}  // namespace

ReportedNumaComparison ReportNumaComparison(const NumaComparison& comparison) {
  ReportedNumaComparison reported;
  for (const NumaDeployment& deployment : comparison.deployments()) {
    const NumaDeployment* const first =
        reported.deployments().empty() ? nullptr : &comparison.deployments(0);
    ReportedNumaComparison::Deployment& added = *reported.add_deployments();
    report::CopyByName(deployment, added);
    ReportCapacity(deployment.cpu_target_searches(),
                   first ? &first->cpu_target_searches() : nullptr,
                   *added.mutable_cpu_target());
    ReportCapacity(deployment.objective_searches(),
                   first ? &first->objective_searches() : nullptr,
                   *added.mutable_objective());
    for (const auto* proof : results::Sorted(deployment.binding_proofs())) {
      *added.add_proofs() = report::DeriveBinding(proof->first, proof->second);
    }
  }
  *reported.mutable_omissions() = comparison.omissions();
  return reported;
}

namespace {

// What the searches of a deployment answered, in a line.
std::string AnswersText(const SearchReports& searches) {
  if (searches.empty()) return "";
  std::vector<std::string> answers;
  for (const SearchReport& search : searches) {
    const bool counts = search.verdict() == "converged";
    answers.push_back(counts ? search::SearchAnswer(search) : search.verdict());
  }
  return absl::StrCat("  ", search::QuestionOf(searches[0]), ": ",
                      absl::StrJoin(answers, "; "), "\n");
}

// For example "0: 12.0M, 1: 3.0M"; "-" without any.
std::string ByNumber(const google::protobuf::Map<int32_t, int64_t>& amounts,
                     const std::function<std::string(int64_t)>& text_of) {
  std::vector<std::string> parts;
  for (const auto* amount : results::Sorted(amounts)) {
    parts.push_back(absl::StrCat(amount->first, ": ", text_of(amount->second)));
  }
  return parts.empty() ? "-" : absl::StrJoin(parts, ", ");
}

std::string ProofText(const std::string& instance, const BindingProof& proof) {
  double sum_ns = 0;
  for (const auto& [cpu, ns] : proof.cpu_time_ns_by_cpu()) {
    sum_ns += static_cast<double>(ns);
  }
  std::string text = absl::StrCat(
      "  ", instance, ": asked for ", report::BindingText(proof),
      "; CPU time by CPU ",
      ByNumber(proof.cpu_time_ns_by_cpu(),
               [&](int64_t ns) {
                 return base::HumanPercent(static_cast<double>(ns) / sum_ns);
               }),
      "; memory by node ",
      ByNumber(proof.resident_bytes_by_node(), base::HumanBytes), "\n");
  for (const std::string& violation : proof.violations()) {
    absl::StrAppend(&text, "    NOT HELD: ", violation, "\n");
  }
  return text;
}

}  // namespace

std::string RenderNumaComparison(const NumaComparison& comparison) {
  std::string text;
  for (const NumaDeployment& deployment : comparison.deployments()) {
    const NumaDeployment& first = comparison.deployments(0);
    absl::StrAppend(&text, deployment.name(), ": instances ",
                    deployment.instances(), ", workers of each ",
                    deployment.workers_per_instance(), "\n",
                    AnswersText(deployment.cpu_target_searches()),
                    AnswersText(deployment.objective_searches()));
    for (const auto* proof : results::Sorted(deployment.binding_proofs())) {
      text += ProofText(proof->first, proof->second);
    }
    if (&deployment == &first) continue;
    report::CapacityComparisons compared = {
        .questions = {Compare(first.cpu_target_searches(),
                              deployment.cpu_target_searches()),
                      Compare(first.objective_searches(),
                              deployment.objective_searches())}};
    std::erase_if(compared.questions, [](const auto& question) {
      return question.question.empty();
    });
    if (compared.questions.empty()) continue;
    absl::StrAppend(&text, deployment.name(), " (new) compared with ",
                    first.name(), " (base)\n",
                    report::DescribeCapacities(compared));
  }
  for (const std::string& omission : comparison.omissions()) {
    absl::StrAppend(&text, "Note: ", omission, "\n");
  }
  return text;
}

}  // namespace distbench::numa_compare
