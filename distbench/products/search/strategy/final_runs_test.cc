// The end of a search: how often it repeats final runs, and what it says then.

#include <cmath>
#include <optional>
#include <vector>

#include "distbench/products/search/strategy/load_search.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kCapacity = 500;

// A system whose latency is proportional to the load, without chance, whose
// probes nevertheless know it with this error only.
Probe Measure(const ProbeRequest& request, double error) {
  return {.request = request,
          .achieved_load = request.load,
          .excess = std::log(request.load / kCapacity),
          .excess_error = error,
          .seconds = 10 * request.length};
}

std::vector<double> FinalLengths(const LoadSearch& search) {
  std::vector<double> lengths;
  for (const Probe& probe : search.probes()) {
    if (probe.request.phase == ProbePhase::kFinal) {
      lengths.push_back(probe.request.length);
    }
  }
  return lengths;
}

void RunAll(LoadSearch& search, double error) {
  while (search.Next().has_value()) {
    const ProbeRequest request = *search.Next();
    search.Add(Measure(request, error / std::sqrt(request.length)));
  }
}

TEST(FinalRunsTest, AreNotRepeatedOnceTheLoadIsProven) {
  LoadSearch search({.initial_load = 100});
  RunAll(search, 0.005);
  const SearchResult& result = search.result();
  EXPECT_EQ(result.verdict, SearchVerdict::kConverged);
  EXPECT_THAT(FinalLengths(search), ElementsAre(1));
  EXPECT_TRUE(result.is_proven);
  EXPECT_EQ(result.interval.min, result.load);
  EXPECT_GE(*result.interval.max, kCapacity);
  EXPECT_THAT(result.evidence, HasSubstr("proven at 95 %: "));
}

TEST(FinalRunsTest, AreRepeatedUntilTheyHaveTakenLongEnough) {
  LoadSearch search({.initial_load = 100});
  RunAll(search, 0.3);
  const SearchResult& result = search.result();
  EXPECT_EQ(result.verdict, SearchVerdict::kConverged);
  EXPECT_THAT(FinalLengths(search), ElementsAre(1, 1, 2, 4));
  EXPECT_FALSE(result.is_proven);
  EXPECT_THAT(result.evidence, HasSubstr("met, not proven at 95 %: "));
  EXPECT_LT(*result.interval.min, *result.load);
  EXPECT_GT(*result.interval.max, kCapacity);
}

TEST(FinalRunsTest, ThatMetAreTheAnswerIfTheProbesAreUsedUp) {
  LoadSearch all({.initial_load = 100});
  RunAll(all, 0.3);
  const int probes = static_cast<int>(all.probes().size());
  LoadSearch fewer({.initial_load = 100, .max_probes = probes - 2});
  RunAll(fewer, 0.3);
  EXPECT_THAT(FinalLengths(fewer), ElementsAre(1, 1));
  EXPECT_EQ(fewer.result().verdict, SearchVerdict::kConverged);
  EXPECT_EQ(fewer.result().load, all.result().load);
  EXPECT_FALSE(fewer.result().is_proven);
}

TEST(FinalRunsTest, EndEarlyBeforeThemFindsNoAnswer) {
  LoadSearch search({.initial_load = 100});
  search.EndEarly("no time");
  EXPECT_FALSE(search.Next().has_value());
  EXPECT_EQ(search.result().verdict, SearchVerdict::kBudgetExhausted);
  EXPECT_EQ(search.result().evidence, "no time");
  EXPECT_FALSE(search.result().load.has_value());
}

// Nothing has missed at the highest load, so nothing bounds the interval.
TEST(FinalRunsTest, AreLeftOutAtTheHighestLoad) {
  LoadSearch search({.initial_load = 100, .max_load = 300});
  RunAll(search, 0.01);
  const SearchResult& result = search.result();
  EXPECT_EQ(result.verdict, SearchVerdict::kUpperBoundHit);
  EXPECT_THAT(FinalLengths(search), IsEmpty());
  EXPECT_TRUE(result.is_proven);
  EXPECT_EQ(result.interval.min, 300);
  EXPECT_FALSE(result.interval.max.has_value());
}

TEST(FinalRunsTest, ProveTheLastWholeNumber) {
  LoadSearch search({.initial_load = 4, .min_load = 1, .is_whole = true});
  while (search.Next().has_value()) {
    Probe probe = Measure(*search.Next(), 0.01);
    probe.excess = std::log(probe.request.load / 8.6);
    search.Add(probe);
  }
  EXPECT_EQ(search.result().load, 8);
  EXPECT_TRUE(search.result().is_proven);
  EXPECT_EQ(search.result().interval.min, 8);
  EXPECT_EQ(search.result().interval.max, 8);
}

TEST(FinalRunsTest, CountByTheirLength) {
  ProbeHistory history;
  const auto add = [&](double load, double length, double excess) {
    history.Add({.request = {.phase = ProbePhase::kFinal,
                             .load = load,
                             .length = length},
                 .excess = excess,
                 .excess_error = 0.3});
  };
  add(100, 1, 0.2);
  add(100, 3, -0.2);
  add(90, 5, -1);
  const std::optional<Probe> at_100 = history.FinalRunsAt(100);
  ASSERT_TRUE(at_100.has_value());
  EXPECT_NEAR(at_100->excess, -0.1, 1e-9);
  EXPECT_NEAR(at_100->excess_error, 0.3 * std::sqrt(10) / 4, 1e-9);
  EXPECT_EQ(at_100->request.length, 4);
  EXPECT_EQ(history.FinalLength(), 9);
  EXPECT_FALSE(history.FinalRunsAt(80).has_value());
}

}  // namespace
}  // namespace distbench::search
