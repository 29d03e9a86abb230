// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Each entry of the library of real traffic sends what its provenance says.

#include "test_builder/library/library.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/report/findings/findings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/library/check_entry.h"
#include "tests/library/run_entry.h"
#include "tests/library/table.h"

namespace distbench {
namespace {

using testing::HasSubstr;

LibraryEntry Entry(absl::string_view name) {
  const LibraryEntry* entry = test_builder::FindLibraryEntry(name);
  EXPECT_NE(entry, nullptr) << name;
  return entry == nullptr ? LibraryEntry() : *entry;
}

class EntryOfTheLibrary : public testing::TestWithParam<LibraryEntry> {};

// The run has to end, without failures.
TEST_P(EntryOfTheLibrary, AgreesWithItsSources) {
  const auto comparisons = CompareEntry(GetParam());
  ASSERT_TRUE(comparisons.ok()) << comparisons.status();
  for (const Comparison& comparison : *comparisons) {
    EXPECT_TRUE(comparison.Agrees())
        << PublishedCells(GetParam(), comparison.marginal)
        << MeasuredCells(comparison);
  }
}

TEST_P(EntryOfTheLibrary, IsInTheDocumentation) {
  const auto page = base::ReadFile("workloads/real/CHECKS.md");
  ASSERT_TRUE(page.ok()) << page.status();
  for (const Marginal& marginal : GetParam().marginals()) {
    EXPECT_THAT(*page, HasSubstr(PublishedCells(GetParam(), marginal)))
        << "Run check_library, and copy its table to "
           "workloads/real/CHECKS.md.";
  }
}

// Patterns of test_builder have rates of their own, by their parameters.
TEST_P(EntryOfTheLibrary, HasACheckedRate) {
  if (GetParam().has_test_builder_config()) return;
  const auto& marginals = GetParam().marginals();
  EXPECT_TRUE(std::any_of(
      marginals.begin(), marginals.end(), [](const Marginal& marginal) {
        return marginal.has_calls() && marginal.calls().per().empty();
      }));
}

INSTANTIATE_TEST_SUITE_P(
    Library, EntryOfTheLibrary,
    testing::ValuesIn(test_builder::Library().entries().begin(),
                      test_builder::Library().entries().end()),
    [](const auto& info) { return info.param.name(); });

TEST(CompareEntryTest, SeesThatARatioDisagrees) {
  LibraryEntry entry = Entry("cache_aside");
  for (Marginal& marginal : *entry.mutable_marginals()) {
    if (marginal.quantity() == "share of gets that miss") {
      marginal.set_value(0.12);
    }
  }
  const auto comparisons = CompareEntry(entry);
  ASSERT_TRUE(comparisons.ok()) << comparisons.status();
  EXPECT_EQ(std::count_if(comparisons->begin(), comparisons->end(),
                          [](const Comparison& c) { return !c.Agrees(); }),
            1);
}

TEST(CompareEntryTest, SeesThatADistributionDisagrees) {
  LibraryEntry entry = Entry("facebook_hadoop");
  entry.mutable_marginals(0)->mutable_table()->set_file(
      "workloads/real/web_search/flow_sizes.csv");
  const auto comparisons = CompareEntry(entry);
  ASSERT_TRUE(comparisons.ok()) << comparisons.status();
  EXPECT_GT(comparisons->front().error, 0.5);
}

TEST(CompareEntryTest, SaysWhatIsWrongWithAProvenance) {
  LibraryEntry entry = Entry("gossip");
  entry.mutable_marginals(0)->set_request_bytes("gosip");
  EXPECT_THAT(CompareEntry(entry).status().ToString(),
              HasSubstr("the run has no values; correct the name of the RPC"));
  entry.mutable_sources(0)->clear_licence();
  EXPECT_THAT(CompareEntry(entry).status().ToString(),
              HasSubstr("gossip: the provenance needs publication, place, "
                        "licence and fitted_by of each source"));
}

TEST(RunSimulatedTest, RunsForTheGivenTime) {
  const auto test = EntryTest(Entry("rebuild_incast"));
  ASSERT_TRUE(test.ok()) << test.status();
  const auto result = RunSimulated(*test, /*seconds=*/3, /*traced=*/false);
  ASSERT_TRUE(result.ok()) << result.status();
  int64_t reads = 0;
  for (const auto& [server, log] :
       result->service_logs().instance_logs().at("rebuilder/0").peer_logs()) {
    reads += log.rpc_logs().at(0).statistics().succeeded_count();
  }
  EXPECT_NEAR(static_cast<double>(reads), 150, 10);
}

bool IsMetastable(const DistributedSystemDescription& test) {
  const auto result = RunSimulated(test, /*seconds=*/40, /*traced=*/false);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return false;
  const std::vector<Finding> findings = report::Judge(*result);
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.code() == "metastable"; });
}

TEST(RetryStormTest, LastsUnlessRetriesHaveABudget) {
  auto test = EntryTest(Entry("retry_storm"));
  ASSERT_TRUE(test.ok()) << test.status();
  EXPECT_TRUE(IsMetastable(*test));
  RetryPolicy& retry =
      *test->mutable_rpc_descriptions(0)->mutable_policy()->mutable_retry();
  retry.mutable_budget()->set_window_ns(1'000'000'000);
  EXPECT_FALSE(IsMetastable(*test));
}

}  // namespace
}  // namespace distbench
