// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "distbench/products/search/report/searches.h"
#include "distbench/report/comparison/capacity.h"
#include "distbench/report/comparison/testing/made_runs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

SearchReport SearchOf(double load, int64_t latency_ns,
                      const std::string& objective = "cpu<=60%") {
  SearchReport search;
  search.mutable_search()->add_objectives(objective);
  search.mutable_search()->set_knob("rate");
  search.mutable_search()->set_tolerance(0.02);
  search.set_load_unit("iterations per second");
  search.set_verdict("converged");
  search.set_load(load);
  SearchProbe& refine = *search.add_probes();
  refine.set_phase("refine");
  SearchProbe& final_probe = *search.add_probes();
  final_probe.set_phase("final");
  TestResult run = report::RunOf(latency_ns);
  *final_probe.mutable_statistics() = report::StatisticsOf(run);
  return search;
}

TEST(AnswersTest, SayVerdictsAndLoads) {
  TestSequenceResults results;
  EXPECT_EQ(AnswersOf(results), "");
  *results.add_searches() = SearchOf(/*load=*/350, /*latency_ns=*/1000);
  results.add_searches();
  results.add_searches()->set_verdict("unstable");
  EXPECT_EQ(AnswersOf(results),
            "converged: 350 iterations per second; not ended; unstable");
}

std::vector<report::SourcedResults> Files(
    const std::vector<SearchReport>& searches) {
  std::vector<report::SourcedResults> files;
  for (const SearchReport& search : searches) {
    files.push_back({"file.pb", {}});
    *files.back().results.add_searches() = search;
    *files.back().results.add_test_results() = report::RunOf(1000);
  }
  return files;
}

report::CapacityComparisons ComparedFiles(
    const std::vector<report::SourcedResults>& base,
    const std::vector<report::SourcedResults>& next) {
  return report::CompareCapacities(base, next,
                                   /*allow_different_traffic=*/false);
}

TEST(CapacityTest, LoadAndLatencyAreRatios) {
  const auto base =
      Files({SearchOf(1000, 1'000'000), SearchOf(1010, 1'010'000)});
  const auto next =
      Files({SearchOf(1690, 1'120'000), SearchOf(1700, 1'130'000)});
  const report::CapacityComparisons compared = ComparedFiles(base, next);
  ASSERT_THAT(compared.questions, SizeIs(1));
  const report::CapacityComparison& question = compared.questions[0];
  EXPECT_EQ(question.question, "highest iterations per second with cpu<=60%");
  ASSERT_THAT(question.ratios, SizeIs(4));
  EXPECT_NEAR(question.ratios[0].ratio.estimate, 1.687, 1e-3);
  EXPECT_GT(question.ratios[0].ratio.interval->lower, 1.5);
  EXPECT_EQ(question.ratios[2].name, "p99");
  EXPECT_NEAR(question.ratios[2].ratio.estimate, 1.12, 0.01);
  EXPECT_EQ(question.ratios[3].name, "mean");
  EXPECT_NEAR(question.ratios[3].ratio.estimate, 1.12, 0.01);
  const std::string text = report::DescribeCapacities(compared);
  EXPECT_THAT(text,
              HasSubstr("New carries 169 % of the load of base, with 11"));
  EXPECT_THAT(text, testing::ContainsRegex("load .*  better\n"));
  EXPECT_THAT(text, testing::ContainsRegex("p99 .*  worse\n"));
  EXPECT_THAT(text, HasSubstr("to within up to 2 %"));
}

TEST(CapacityTest, SingleSearchesHaveNoVerdict) {
  const std::string text = report::DescribeCapacities(ComparedFiles(
      Files({SearchOf(1000, 1000)}), Files({SearchOf(2000, 1000)})));
  EXPECT_THAT(text, HasSubstr("x2.000"));
  EXPECT_THAT(text, HasSubstr("unknown: a single search"));
}

// Both found 1000 and 1000 exactly, and 1010: no finer than the tolerance.
TEST(CapacityTest, DifferencesWithinTheToleranceAreNone) {
  const std::string text = report::DescribeCapacities(
      ComparedFiles(Files({SearchOf(1000, 1000), SearchOf(1000, 1000)}),
                    Files({SearchOf(1010, 1000), SearchOf(1010, 1000)})));
  EXPECT_THAT(text, testing::ContainsRegex("load .*  no difference shown\n"));
}

TEST(CapacityTest, WhatCannotBeComparedIsSaid) {
  SearchReport unstable = SearchOf(1000, 1000);
  unstable.set_verdict("unstable");
  auto compared =
      ComparedFiles(Files({SearchOf(1000, 1000)}), Files({unstable}));
  EXPECT_EQ(compared.questions[0].not_comparable,
            "no search of new converged to a load: unstable");
  EXPECT_THAT(compared.questions[0].ratios, IsEmpty());

  const double not_finite = std::numeric_limits<double>::infinity();
  for (const double load : {0.0, -1.0, not_finite, std::nan("")}) {
    compared = ComparedFiles(Files({SearchOf(load, 1000)}), Files({unstable}));
    EXPECT_EQ(compared.questions[0].not_comparable,
              "no search of base converged to a load: converged")
        << load;
  }

  SearchReport cut_off = SearchOf(1000, 1000);
  cut_off.clear_verdict();
  compared = ComparedFiles(Files({cut_off}), Files({SearchOf(1000, 1000)}));
  EXPECT_EQ(compared.questions[0].not_comparable,
            "no search of base converged to a load: not ended");

  compared = ComparedFiles(Files({SearchOf(1000, 1000)}),
                           Files({SearchOf(1000, 1000, "query p99<=1ms")}));
  ASSERT_THAT(compared.questions, SizeIs(2));
  EXPECT_EQ(compared.questions[0].not_comparable, "new has no such search");
  EXPECT_EQ(compared.questions[1].not_comparable, "base has no such search");
  EXPECT_THAT(ComparedFiles({}, {}).questions, IsEmpty());
  EXPECT_EQ(report::DescribeCapacities(ComparedFiles({}, {})), "");
}

// The two searches of the new version that converged found more than base, but
// three did not.
TEST(CapacityTest, SearchesThatDidNotConvergeCount) {
  SearchReport unstable = SearchOf(1000, 1000);
  unstable.set_verdict("unstable");
  const std::vector<SearchReport> steady = {
      SearchOf(1000, 1000), SearchOf(1001, 1000), SearchOf(1002, 1000)};
  const std::vector<SearchReport> lucky = {
      SearchOf(2000, 1000), SearchOf(2001, 1000), unstable, unstable, unstable};
  const auto better = ComparedFiles(Files(steady), Files(lucky));
  const report::CapacityComparison& question = better.questions[0];
  EXPECT_EQ(question.next_searches.all, 5);
  EXPECT_EQ(question.next_searches.converged, 2);
  EXPECT_EQ(report::JudgeRatio(question.ratios[0], question),
            report::ComparisonVerdict::kNotShown);
  EXPECT_THAT(better.notes,
              ElementsAre(HasSubstr(
                  "3 of 5 searches of new did not converge (unstable)")));
  EXPECT_THAT(report::DescribeCapacities(better),
              AllOf(HasSubstr("(converged: base 3 of 3, new 2 of 5)"),
                    HasSubstr("unknown: not as many searches")));
  // What speaks against the new version although the others are left out.
  const auto worse = ComparedFiles(Files(lucky), Files(steady));
  EXPECT_EQ(
      report::JudgeRatio(worse.questions[0].ratios[0], worse.questions[0]),
      report::ComparisonVerdict::kNotShown);
  const auto still_worse = ComparedFiles(
      Files({SearchOf(4000, 1000), SearchOf(4001, 1000)}), Files(lucky));
  EXPECT_EQ(report::JudgeRatio(still_worse.questions[0].ratios[0],
                               still_worse.questions[0]),
            report::ComparisonVerdict::kWorse);
}

TEST(CapacityTest, OtherWorkIsNotComparableUnlessAllowed) {
  const auto base = Files({SearchOf(1000, 1000)});
  auto next = Files({SearchOf(1000, 1000)});
  DistributedSystemDescription& config =
      *next[0].results.mutable_test_results(0)->mutable_traffic_config();
  config.add_actions()->mutable_iterations()->set_open_loop_interval_ns(5);
  EXPECT_THAT(ComparedFiles(base, next).questions[0].not_comparable, IsEmpty());
  config.add_payload_descriptions()->set_size(7);
  EXPECT_THAT(ComparedFiles(base, next).questions[0].not_comparable,
              HasSubstr("payload_descriptions"));
  const report::CapacityComparisons allowed =
      report::CompareCapacities(base, next, true);
  EXPECT_THAT(allowed.questions[0].not_comparable, IsEmpty());
  EXPECT_THAT(allowed.notes, ElementsAre(HasSubstr("payload_descriptions")));
}

TEST(CapacityTest, OtherHostsAreNoted) {
  auto next = Files({SearchOf(1000, 1000)});
  (*next[0]
        .results.mutable_test_results(0)
        ->mutable_resource_usage_logs()
        ->mutable_node_resources())["node0"]
      .mutable_host()
      ->set_cpu_model("Z80");
  EXPECT_THAT(ComparedFiles(Files({SearchOf(1000, 1000)}), next).notes,
              ElementsAre("CPU model: base not known, new Z80"));
}

TEST(CapacityTest, NumaDeploymentsAreComparedOneByOne) {
  const auto file = [](double factor) {
    std::vector<report::SourcedResults> files = {{"numa.pb", {}}};
    for (const char* name : {"one_unbound", "bound"}) {
      NumaDeployment& deployment =
          *files[0].results.mutable_numa_comparison()->add_deployments();
      deployment.set_name(name);
      *deployment.add_cpu_target_searches() =
          SearchOf(1000 * factor, 1'000'000);
    }
    return files;
  };
  const report::CapacityComparisons compared =
      ComparedFiles(file(1), file(1.69));
  ASSERT_THAT(compared.questions, SizeIs(2));
  EXPECT_EQ(compared.questions[0].question,
            "bound: highest iterations per second with cpu<=60%");
  EXPECT_NEAR(compared.questions[1].ratios[0].ratio.estimate, 1.69, 1e-9);
}

// Percentiles that fall among failures, or that few RPCs have, are left out.
TEST(CapacityTest, LatenciesThatAreNotKnownAreLeftOut) {
  SearchReport failing = SearchOf(1000, 1000);
  TestResult run = report::RunOf(1000, 9000, 1000);
  *failing.mutable_probes(1)->mutable_statistics() = report::StatisticsOf(run);
  const auto compared =
      ComparedFiles(Files({SearchOf(1000, 1000)}), Files({failing}));
  ASSERT_THAT(compared.questions[0].ratios, SizeIs(3));
  EXPECT_EQ(compared.questions[0].ratios[1].name, "p50");
}

TEST(CapacityTest, RunsOfSearchesAreNoPlainRuns) {
  auto files = Files({SearchOf(1000, 1000)});
  EXPECT_THAT(report::ListPlainRuns(files), IsEmpty());
  files[0].results.clear_searches();
  EXPECT_THAT(report::ListPlainRuns(files), SizeIs(1));
}

}  // namespace
}  // namespace distbench::search
