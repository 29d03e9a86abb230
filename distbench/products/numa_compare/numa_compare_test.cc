// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/numa_compare/numa_compare.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/json.h"
#include "distbench/base/message_json.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace distbench::numa_compare {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Each has a search for each objective.
NumaPlan TwoDeployments(const std::vector<std::string>& objectives) {
  NumaPlan plan;
  plan.omissions = {"no moon"};
  for (const char* name : {"one_unbound", "bound"}) {
    PlannedDeployment& deployment = plan.deployments.emplace_back();
    deployment.description.set_name(name);
    deployment.description.set_workers_per_instance(4);
    for (const std::string& objective : objectives) {
      deployment.searches.emplace_back().spec.add_objectives(objective);
    }
  }
  return plan;
}

TestSequenceResults Answer() {
  TestSequenceResults answer;
  SearchReport& search = *answer.add_searches();
  search.set_verdict("converged");
  search.set_load(100);
  answer.add_test_results();  // only the last run counts
  NodeResources& node = (*answer.add_test_results()
                              ->mutable_resource_usage_logs()
                              ->mutable_node_resources())["node1"];
  (*node.mutable_binding_proofs())["server/0"].set_cpu_migrations(3);
  return answer;
}

// The repetition, the deployment and the objective of each search.
std::vector<std::string> Order(uint64_t seed, TestSequenceResults& results) {
  std::vector<std::string> order;
  const absl::Status status = RunNumaComparison(
      TwoDeployments({"cpu<=60%", "p99<=1ms"}), /*repetitions=*/3, seed,
      [&](const PlannedDeployment& deployment, const search::SearchPlan& search,
          const std::string& title) {
        const std::string& name = deployment.description.name();
        const std::string& objective = search.spec.objectives(0);
        const size_t number = order.size() + 1;
        EXPECT_EQ(title,
                  absl::StrCat("Search ", number, " of 12: ", name, ", ",
                               objective, ", repetition ", (number + 3) / 4));
        order.push_back(absl::StrCat((number - 1) / 4, name, objective));
        return Answer();
      },
      results);
  EXPECT_EQ(status, absl::OkStatus());
  return order;
}

TEST(NumaComparisonTest, EachSearchRunsOnceInEachRepetition) {
  TestSequenceResults results;
  const std::vector<std::string> order = Order(1, results);
  EXPECT_EQ(std::set<std::string>(order.begin(), order.end()).size(), 12);
  const NumaComparison& comparison = results.numa_comparison();
  EXPECT_THAT(comparison.omissions(), ElementsAre("no moon"));
  ASSERT_EQ(comparison.deployments_size(), 2);
  for (const NumaDeployment& deployment : comparison.deployments()) {
    EXPECT_THAT(deployment.cpu_target_searches(), SizeIs(3));
    EXPECT_THAT(deployment.objective_searches(), SizeIs(3));
    EXPECT_THAT(deployment.binding_proofs(), SizeIs(1));
  }
  EXPECT_EQ(comparison.deployments(0).workers_per_instance(), 4);
  ASSERT_EQ(results.test_results_size(), 12);
  EXPECT_EQ(results.test_results(11).run_info().repetition(), 2);
}

TEST(NumaComparisonTest, TheOrderIsTheSeeds) {
  TestSequenceResults first, again, other;
  const std::vector<std::string> order = Order(1, first);
  EXPECT_EQ(Order(1, again), order);
  EXPECT_NE(Order(2, other), order);
}

// Returns the titles of the searches that are made, at most so many.
std::vector<std::string> MakeSearches(size_t most,
                                      TestSequenceResults& results) {
  std::vector<std::string> titles;
  RunNumaComparison(
      TwoDeployments({"cpu<=60%", "p99<=1ms"}), /*repetitions=*/3, /*seed=*/1,
      [&](const PlannedDeployment&, const search::SearchPlan&,
          const std::string& title) -> absl::StatusOr<TestSequenceResults> {
        if (titles.size() == most) return absl::CancelledError("stopped");
        titles.push_back(title);
        return Answer();
      },
      results)
      .IgnoreError();
  return titles;
}

TEST(NumaComparisonTest, WhatIsCutAtAnySearchEndsAsIfItWasNot) {
  constexpr size_t kAll = 12;
  TestSequenceResults whole;
  const std::vector<std::string> titles = MakeSearches(kAll, whole);
  ASSERT_EQ(titles.size(), kAll);
  for (size_t cut = 0; cut <= kAll; ++cut) {
    TestSequenceResults results;
    std::vector<std::string> made = MakeSearches(cut, results);
    const std::vector<std::string> rest = MakeSearches(kAll, results);
    made.insert(made.end(), rest.begin(), rest.end());
    EXPECT_EQ(made, titles) << cut;
    EXPECT_TRUE(
        google::protobuf::util::MessageDifferencer::Equals(results, whole))
        << cut;
  }
}

TEST(NumaComparisonTest, OtherDeploymentsAreRefused) {
  TestSequenceResults results;
  MakeSearches(2, results);
  NumaPlan other = TwoDeployments({"cpu<=60%", "p99<=1ms"});
  other.deployments[1].description.set_workers_per_instance(8);
  const absl::Status refused = RunNumaComparison(
      other, /*repetitions=*/3, /*seed=*/1,
      [](const PlannedDeployment&, const search::SearchPlan&,
         const std::string&) -> absl::StatusOr<TestSequenceResults> {
        ADD_FAILURE() << "was searched";
        return absl::CancelledError("stopped");
      },
      results);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("another comparison"), HasSubstr("4 -> 8")));
  EXPECT_EQ(results.test_results_size(), 2);
}

absl::Status RunUntil(const absl::Status& third, TestSequenceResults& results) {
  int number = 0;
  return RunNumaComparison(
      TwoDeployments({"cpu<=60%"}), /*repetitions=*/2, /*seed=*/0,
      [&](const PlannedDeployment&, const search::SearchPlan&,
          const std::string&) -> absl::StatusOr<TestSequenceResults> {
        if (++number == 3) return third;
        return Answer();
      },
      results);
}

TEST(NumaComparisonTest, KeepsWhatWasFoundBeforeItWasCancelled) {
  TestSequenceResults results;
  EXPECT_TRUE(
      absl::IsCancelled(RunUntil(absl::CancelledError("stop"), results)));
  EXPECT_EQ(results.test_results_size(), 2);
}

TEST(NumaComparisonTest, ASearchThatFailsIsToldAndDoesNotEndTheOthers) {
  TestSequenceResults results;
  const absl::Status status =
      RunUntil(absl::UnavailableError("node0 was lost"), results);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("1 of 4 searches failed"));
  EXPECT_EQ(results.test_results_size(), 3);
  EXPECT_THAT(
      results.numa_comparison().omissions(),
      ElementsAre("no moon", ContainsRegex("^Search 3 of 4: .*, cpu<=60%, "
                                           "repetition 2: failed and is not "
                                           "counted: node0 was lost\\.$")));
  int failed_count = 0;
  for (const auto& deployment : results.numa_comparison().deployments()) {
    EXPECT_THAT(deployment.cpu_target_searches(), SizeIs(2));
    for (const SearchReport& search : deployment.cpu_target_searches()) {
      if (search.verdict() == kFailedVerdict) ++failed_count;
    }
  }
  EXPECT_EQ(failed_count, 1);

  // It is made again, and no other one.
  EXPECT_EQ(RunNumaComparison(
                TwoDeployments({"cpu<=60%"}), /*repetitions=*/2, /*seed=*/0,
                [](const PlannedDeployment&, const search::SearchPlan&,
                   const std::string& title) {
                  EXPECT_THAT(title, HasSubstr("Search 3 of 4"));
                  return Answer();
                },
                results),
            absl::OkStatus());
  EXPECT_EQ(results.test_results_size(), 4);
  EXPECT_THAT(results.numa_comparison().omissions(), ElementsAre("no moon"));
  for (const auto& deployment : results.numa_comparison().deployments()) {
    EXPECT_THAT(deployment.cpu_target_searches(), SizeIs(2));
  }
}

// ---- Reports --------------------------------------------------------------

base::Json JsonOf(const NumaComparison& comparison) {
  return base::MessageJson(ReportNumaComparison(comparison));
}

void AddSearches(const std::string& objective, const std::vector<double>& loads,
                 google::protobuf::RepeatedPtrField<SearchReport>& searches) {
  for (const double load : loads) {
    SearchReport& search = *searches.Add();
    search.mutable_search()->add_objectives(objective);
    search.set_load_unit("iterations per second");
    search.set_verdict(load > 0 ? "converged" : "generator_limited");
    if (load > 0) search.set_load(load);
  }
}

NumaDeployment& AddDeployment(const std::string& name, int instances,
                              const std::vector<double>& loads,
                              NumaComparison& comparison) {
  NumaDeployment& deployment = *comparison.add_deployments();
  deployment.set_name(name);
  deployment.set_instances(instances);
  deployment.set_workers_per_instance(4 / instances);
  AddSearches("cpu<=60%", loads, *deployment.mutable_cpu_target_searches());
  return deployment;
}

BindingProof& AddProof(NumaDeployment& deployment) {
  BindingProof& proof = (*deployment.mutable_binding_proofs())["server/0"];
  proof.mutable_binding()->set_cpus("2-3");
  proof.mutable_binding()->set_memory_policy(NumaBinding::BIND);
  proof.mutable_binding()->set_memory_nodes("1");
  (*proof.mutable_cpu_time_ns_by_cpu())[3] = 1000;
  (*proof.mutable_cpu_time_ns_by_cpu())[2] = 3000;
  (*proof.mutable_resident_bytes_by_node())[1] = 3 << 20;
  return proof;
}

TEST(NumaReportTest, RatiosToTheFirstWithIntervals) {
  NumaComparison comparison;
  AddDeployment("one_unbound", 1, {100, 110, 90}, comparison);
  AddDeployment("bound", 2, {200, 220, 180}, comparison);
  const base::Json json = JsonOf(comparison);
  const base::Json& first = json["deployments"][0]["cpu_target"];
  EXPECT_NEAR(first["load"].get<double>(), std::cbrt(100.0 * 110 * 90), 1e-9);
  EXPECT_TRUE(first["ratio"].is_null());
  const base::Json& bound = json["deployments"][1]["cpu_target"];
  EXPECT_NEAR(bound["ratio"].get<double>(), 2, 1e-9);
  EXPECT_LT(bound["ratio_lower"].get<double>(), 2);
  EXPECT_GT(bound["ratio_upper"].get<double>(), 2);
  EXPECT_THAT(json["deployments"][1]["objective"]["searches"], IsEmpty());
}

TEST(NumaReportTest, SearchesThatFoundNothingDoNotCount) {
  NumaComparison comparison;
  AddDeployment("one_unbound", 1, {100, 0}, comparison);
  AddDeployment("bound", 2, {0}, comparison);
  const base::Json json = JsonOf(comparison);
  const base::Json& first = json["deployments"][0]["cpu_target"];
  EXPECT_THAT(first["searches"], SizeIs(2));
  EXPECT_NEAR(first["load"].get<double>(), 100, 1e-9);
  const base::Json& bound = json["deployments"][1]["cpu_target"];
  EXPECT_TRUE(bound["load"].is_null());
  EXPECT_TRUE(bound["ratio"].is_null());
  EXPECT_THAT(
      RenderNumaComparison(comparison),
      AllOf(HasSubstr("one_unbound: instances 1, workers of each 4\n"
                      "  highest iterations per second with cpu<=60%: 100 "
                      "iterations per second; generator_limited\n"),
            HasSubstr("not comparable: no search of new converged to a load: "
                      "generator_limited")));
}

// A final run of each search at its load, with RPCs of this duration, and one
// at a higher load that missed.
void AddFinalRuns(const std::vector<int64_t>& latencies_ns,
                  google::protobuf::RepeatedPtrField<SearchReport>& searches) {
  for (size_t i = 0; i < latencies_ns.size(); ++i) {
    SearchReport& search = searches[static_cast<int>(i)];
    const auto add = [&](const std::string& phase, const std::string& outcome,
                         double load, int64_t latency_ns) {
      SearchProbe& probe = *search.add_probes();
      probe.set_phase(phase);
      probe.set_outcome(outcome);
      probe.set_requested_load(load);
      stats::LogHistogram histogram;
      histogram.RecordN(latency_ns, 100);
      results::EncodeHistogram(
          histogram, *probe.mutable_statistics()->mutable_response_time_ns());
    };
    add("refine", "met", search.load(), 77 * latencies_ns[i]);
    add("final", "missed", 2 * search.load(), 99 * latencies_ns[i]);
    add("final", "met", search.load(), latencies_ns[i]);
  }
}

TEST(NumaReportTest, MeanLatencyIsThatOfTheFinalRuns) {
  NumaComparison comparison;
  NumaDeployment& first =
      AddDeployment("one_unbound", 1, {100, 100}, comparison);
  AddFinalRuns({1'000'000, 4'000'000}, *first.mutable_cpu_target_searches());
  NumaDeployment& bound = AddDeployment("bound", 2, {150, 150}, comparison);
  AddFinalRuns({1'100'000, 4'400'000}, *bound.mutable_cpu_target_searches());
  const base::Json json = JsonOf(comparison);
  EXPECT_NEAR(
      json["deployments"][0]["cpu_target"]["mean_latency_ns"].get<double>(),
      2'000'000, 20'000);
  const base::Json& capacity = json["deployments"][1]["cpu_target"];
  EXPECT_NEAR(capacity["mean_latency_ratio"].get<double>(), 1.1, 0.01);
  EXPECT_FALSE(capacity["mean_latency_ratio_lower"].is_null());
  EXPECT_THAT(RenderNumaComparison(comparison),
              AllOf(HasSubstr("bound (new) compared with one_unbound (base)"),
                    ContainsRegex("mean +2\\.00 ms +2\\.20 ms +x1\\.10")));
}

TEST(NumaReportTest, SearchesWithoutFinalRunsHaveNoLatency) {
  NumaComparison comparison;
  AddDeployment("one_unbound", 1, {100}, comparison);
  EXPECT_THAT(RenderNumaComparison(comparison), Not(HasSubstr("mean")));
  EXPECT_TRUE(
      JsonOf(comparison)["deployments"][0]["cpu_target"]["mean_latency_ns"]
          .is_null());
}

TEST(NumaReportTest, TextHasCapacitiesProofsAndNotes) {
  NumaComparison comparison;
  AddDeployment("one_unbound", 1, {100}, comparison);
  NumaDeployment& bound = AddDeployment("bound", 2, {150}, comparison);
  BindingProof& proof = AddProof(bound);
  comparison.add_omissions("The moon was left out.");
  const std::string held = RenderNumaComparison(comparison);
  EXPECT_THAT(held, HasSubstr("highest iterations per second with cpu<=60% "
                              "(converged: base 1 of 1, new 1 of 1)"));
  EXPECT_THAT(held, ContainsRegex("load +100 +150 +x1\\.500 +- +unknown"));
  EXPECT_THAT(held, HasSubstr("  server/0: asked for CPUs 2-3, memory bind "
                              "1; CPU time by CPU 2: 75.0 %, 3: 25.0 %; memory "
                              "by node 1: 3.0 MiB\n"));
  EXPECT_THAT(held, HasSubstr("Note: The moon was left out."));
  EXPECT_THAT(held, Not(HasSubstr("NOT HELD")));
  const auto violations = [&] {
    return JsonOf(comparison)["deployments"][1]["proofs"][0]["violations"];
  };
  EXPECT_THAT(violations(), IsEmpty());

  proof.add_violations("it ran away");
  EXPECT_THAT(RenderNumaComparison(comparison),
              HasSubstr("NOT HELD: it ran away"));
  EXPECT_EQ(violations(), base::Json::array({"it ran away"}));
}

TEST(NumaReportTest, JsonHasWhatThePageShows) {
  NumaComparison comparison;
  AddDeployment("one_unbound", 1, {100}, comparison);
  AddProof(AddDeployment("bound", 2, {150, 0}, comparison));
  const auto json = JsonOf(comparison);
  const auto& bound = json["deployments"][1];
  EXPECT_NEAR(bound["cpu_target"]["ratio"].get<double>(), 1.5, 1e-9);
  EXPECT_TRUE(bound["cpu_target"]["ratio_lower"].is_null());
  EXPECT_EQ(bound["cpu_target"]["searches"][1]["verdict"], "generator_limited");
  EXPECT_THAT(json["deployments"][0]["proofs"], IsEmpty());
  EXPECT_EQ(bound["proofs"][0]["cpu_time_ns_by_cpu"]["2"], 3000);
  EXPECT_TRUE(bound["proofs"][0]["cpu_migrations"].is_null());
}

TEST(NumaReportTest, NothingComparedIsNothing) {
  EXPECT_EQ(RenderNumaComparison({}), "");
}

}  // namespace
}  // namespace distbench::numa_compare
