// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/strategy/load_search.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "distbench/products/search/testing/simulated_queue.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kServiceRate = 1000;    // per second
constexpr double kLimitSeconds = 0.010;  // of the 95th percentile
constexpr double kQuantile = 0.95;

// A single server with a queue and Poisson arrivals.
struct Queue {
  std::function<double(std::mt19937_64&)> service_time;
};

Queue ExponentialService() {
  return {[](std::mt19937_64& random) {
    return std::exponential_distribution<>(kServiceRate)(random);
  }};
}

Queue FixedService() {
  return {[](std::mt19937_64&) { return 1 / kServiceRate; }};
}

double Quantile(std::vector<double> values, double quantile) {
  const auto nth =
      values.begin() + static_cast<int64_t>(values.size() * quantile);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

// Compares the 95th percentile of the response times with the limit; the
// standard error is estimated by batch means.
Probe RunQueue(const Queue& queue, const ProbeRequest& request,
               std::mt19937_64& random) {
  constexpr int kBatches = 20;
  const int batch_size = static_cast<int>(5'000 * request.length);
  std::exponential_distribution<> gap(request.load);
  double waiting = 0;
  std::vector<double> all;
  std::vector<double> logs;
  for (int batch = 0; batch < kBatches; ++batch) {
    std::vector<double> responses;
    for (int i = 0; i < batch_size; ++i) {
      const double service = queue.service_time(random);
      responses.push_back(waiting + service);
      waiting = std::max(0.0, waiting + service - gap(random));
    }
    logs.push_back(std::log(Quantile(responses, kQuantile)));
    all.insert(all.end(), responses.begin(), responses.end());
  }
  double mean = 0;
  for (double each : logs) mean += each / kBatches;
  double squares = 0;
  for (double each : logs) squares += (each - mean) * (each - mean);
  return {.request = request,
          .achieved_load = request.load,
          .excess = std::log(Quantile(all, kQuantile) / kLimitSeconds),
          .excess_error = std::sqrt(squares / (kBatches - 1) / kBatches),
          .seconds = request.length};
}

using Runner = std::function<Probe(const ProbeRequest&)>;

SearchResult RunSearch(LoadSearch& search, const Runner& run) {
  while (search.Next().has_value()) search.Add(run(*search.Next()));
  return search.result();
}

double CapacityOf(QueueKind kind) {
  return CapacityForQuantile({kind, kServiceRate}, kQuantile, kLimitSeconds);
}

// Searches with 20 seeds; returns how many ended within 3 % of the true value.
int CountExact(const Queue& queue, double truth) {
  int exact = 0;
  for (int seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    LoadSearch search({.initial_load = 100, .max_probes = 15});
    const SearchResult result =
        RunSearch(search, [&](const ProbeRequest& request) {
          ProbeRequest longer = request;
          if (request.phase == ProbePhase::kFinal) longer.length = 8;
          Probe probe = RunQueue(queue, longer, random);
          probe.request = request;
          return probe;
        });
    EXPECT_LE(search.probes().size(), 15);
    const double load = result.load.value_or(0);
    const bool is_exact = result.verdict == SearchVerdict::kConverged &&
                          std::abs(load / truth - 1) <= 0.03;
    if (is_exact) ++exact;
    std::printf("seed %2d: %zu probes, %.1f of %.1f (%+.1f %%), %s\n", seed,
                search.probes().size(), load, truth, 100 * (load / truth - 1),
                std::string(ToString(result.verdict)).c_str());
  }
  return exact;
}

// The queue, where rates below a floor are missed, too.
Runner QueueWithFloor(double floor, std::mt19937_64& random) {
  return [floor, &random](const ProbeRequest& request) {
    Probe probe = RunQueue(ExponentialService(), request, random);
    if (probe.excess <= 0 && request.load < floor) {
      probe.excess = std::log(floor / request.load);
      probe.is_too_low = true;
    }
    return probe;
  };
}

TEST(LoadSearchTest, GoesUpFromLoadsThatAreTooLow) {
  const double truth = CapacityOf(QueueKind::kExponentialService);
  for (const double initial_load : {10.0, 100.0, 5000.0}) {
    std::mt19937_64 random(1);
    LoadSearch search({.initial_load = initial_load});
    const SearchResult result =
        RunSearch(search, QueueWithFloor(0.9 * truth, random));
    EXPECT_EQ(result.verdict, SearchVerdict::kConverged) << result.evidence;
    EXPECT_NEAR(result.load.value_or(0) / truth, 1, 0.05);
  }
}

TEST(LoadSearchTest, SaysThatLoadsAreTooLowOrTooHigh) {
  const double truth = CapacityOf(QueueKind::kExponentialService);
  std::mt19937_64 random(1);
  for (const double initial_load : {10.0, 5000.0}) {
    LoadSearch search({.initial_load = initial_load});
    const SearchResult result =
        RunSearch(search, QueueWithFloor(1.5 * truth, random));
    EXPECT_EQ(result.verdict, SearchVerdict::kObjectiveUnreachable);
    EXPECT_FALSE(result.load.has_value());
    EXPECT_THAT(result.evidence,
                AllOf(HasSubstr("is less than an objective asks for, and "),
                      HasSubstr("missed")));
  }
  LoadSearch bounded({.initial_load = 10, .max_load = 100});
  EXPECT_THAT(RunSearch(bounded, QueueWithFloor(200, random)).evidence,
              HasSubstr("100 is less than an objective asks for, and is the "
                        "highest load allowed"));
}

TEST(LoadSearchTest, FindsTheCapacityOfAQueueWithExponentialService) {
  EXPECT_GE(CountExact(ExponentialService(),
                       CapacityOf(QueueKind::kExponentialService)),
            19);
}

TEST(LoadSearchTest, FindsTheCapacityOfAQueueWithFixedService) {
  EXPECT_GE(CountExact(FixedService(), CapacityOf(QueueKind::kFixedService)),
            19);
}

// A system without noise, which meets its objective up to `capacity`.
Probe Exact(const ProbeRequest& request, double capacity) {
  return {.request = request,
          .achieved_load = request.load,
          .excess = std::log(request.load / capacity),
          .excess_error = 0.001};
}

TEST(LoadSearchTest, NamesAnObjectiveThatNoLoadMeets) {
  LoadSearch search({.initial_load = 100, .min_load = 10});
  const SearchResult result = RunSearch(
      search, [](const ProbeRequest& request) { return Exact(request, 1); });
  EXPECT_EQ(result.verdict, SearchVerdict::kObjectiveUnreachable);
  EXPECT_FALSE(result.load.has_value());
  EXPECT_EQ(search.probes().back().request.load, 10);
}

TEST(LoadSearchTest, NamesALoadThatCouldNotBeGenerated) {
  LoadSearch search({.initial_load = 100});
  const SearchResult result =
      RunSearch(search, [](const ProbeRequest& request) {
        Probe probe = Exact(request, 1e9);
        if (request.load > 700) {
          probe.generator_limited = true;
          probe.achieved_load = 700;
        }
        return probe;
      });
  EXPECT_EQ(result.verdict, SearchVerdict::kGeneratorLimited);
  EXPECT_NEAR(*result.load, 700, 20);
}

// Measurements of a queue beside other programs. A first final run met at two
// loads, and the generator was late in the second one; two misses are within
// their errors.
TEST(LoadSearchTest, SaysWhatBoundsTheAnswerOfALateGenerator) {
  struct Measured {
    double excess;
    double error;
    double seconds = 2;
    bool is_late = false;
  };
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  constexpr Measured kMeasured[] = {{-0.456, 0.25},
                                    {-0.362, 0.25},
                                    {1.931, 0.25},
                                    {-0.339, 0.25},
                                    {0.0992, 0.25, 5.7},
                                    {-0.230, 0.358, 6.8},
                                    {0.151, 0.227, 6.2},
                                    {-0.104, 0.110, 6.5},
                                    {-0.0204, 0.0933, 6.4},
                                    {-0.0969, kUnknown, 6.3},
                                    {-0.0545, 0.225, 6.3},
                                    {0.00596, 0.156, 6.3, true},
                                    {-0.0825, kUnknown, 6.3},
                                    {0.0253, 0.197, 15, true},
                                    {-0.0545, 0.225, 15}};
  LoadSearch search({.initial_load = 250, .min_load = 1, .max_load = 1e9});
  for (const Measured& measured : kMeasured) {
    ASSERT_TRUE(search.Next().has_value());
    search.Add({.request = *search.Next(),
                .achieved_load = search.Next()->load,
                .excess = measured.excess,
                .excess_error = measured.error,
                .seconds = measured.seconds,
                .generator_limited = measured.is_late});
  }
  ASSERT_FALSE(search.Next().has_value());
  const SearchResult& result = search.result();
  EXPECT_EQ(result.verdict, SearchVerdict::kGeneratorLimited);
  EXPECT_NEAR(*result.load, 314.3, 0.1);
  EXPECT_NEAR(*result.interval.max, 500, 1e-6);
  EXPECT_EQ(result.evidence,
            "met, not proven at 95 %: 314.335 met the objective (0.947 of its "
            "limit); not generated, or not in time: 317.51, 320.718; missed by "
            "less than three standard errors, too little to bound the "
            "interval: 324.21, 353.553");
  // Its final runs at 320.7 count together.
  EXPECT_LT(*search.met(), *search.missed());
}

TEST(LoadSearchTest, NamesASystemThatStaysSlowAfterAnOverload) {
  LoadSearch search({.initial_load = 100});
  bool was_overloaded = false;
  const SearchResult result =
      RunSearch(search, [&](const ProbeRequest& request) {
        Probe probe = Exact(request, was_overloaded ? 50 : 500);
        if (request.load > 500) was_overloaded = true;
        return probe;
      });
  EXPECT_EQ(result.verdict, SearchVerdict::kUnstable);
  EXPECT_NE(result.evidence.find("overloaded"), std::string::npos)
      << result.evidence;
}

TEST(LoadSearchTest, ToleratesASystemThatRecoversLate) {
  LoadSearch search({.initial_load = 100});
  int slow_probes = 0;
  const SearchResult result =
      RunSearch(search, [&](const ProbeRequest& request) {
        const bool is_slow = slow_probes > 0 && slow_probes-- > 0;
        if (request.load > 500 && request.phase == ProbePhase::kBracket) {
          slow_probes = 1;
        }
        return Exact(request, is_slow ? 50 : 500);
      });
  EXPECT_EQ(result.verdict, SearchVerdict::kConverged);
  EXPECT_NEAR(*result.load, 500, 15);
}

TEST(LoadSearchTest, NamesASystemThatDegradesMeanwhile) {
  LoadSearch search({.initial_load = 100});
  int refine_count = 0;
  const SearchResult result =
      RunSearch(search, [&](const ProbeRequest& request) {
        if (request.phase == ProbePhase::kRefine) ++refine_count;
        return Exact(request, refine_count < 2 ? 600 : 450);
      });
  EXPECT_EQ(result.verdict, SearchVerdict::kUnstable) << result.evidence;
}

TEST(LoadSearchTest, ToleratesAStallDuringOneProbe) {
  LoadSearch search({.initial_load = 100});
  int refine_count = 0;
  const SearchResult result =
      RunSearch(search, [&](const ProbeRequest& request) {
        if (request.phase == ProbePhase::kRefine) ++refine_count;
        return Exact(request, refine_count == 1 ? 540 : 600);
      });
  EXPECT_EQ(result.verdict, SearchVerdict::kConverged) << result.evidence;
  EXPECT_NEAR(*result.load, 600, 30);
}

// A pause makes the p95 of a short probe ten times the limit, which says
// nothing clear, because it was a single one.
TEST(LoadSearchTest, ToleratesAPauseInTheFirstProbe) {
  LoadSearch search({.initial_load = 100, .max_probes = 40});
  const SearchResult result =
      RunSearch(search, [&](const ProbeRequest& request) {
        Probe probe = Exact(request, 600);
        if (search.probes().size() == 1) {
          probe.excess = 2.3;
          probe.excess_error = 2;
        }
        return probe;
      });
  EXPECT_EQ(result.verdict, SearchVerdict::kConverged) << result.evidence;
  EXPECT_NEAR(*result.load, 600, 30);
}

// A system whose speed varies a little, and which stalls in one probe of seven.
Probe RunOnRestlessHost(const ProbeRequest& request, double capacity,
                        std::mt19937_64& random) {
  constexpr double kSteepness = 4;
  constexpr double kStallShare = 1.0 / 7;
  constexpr double kStallExcess = 0.6;
  constexpr double kUnexplained = 0.05;
  Probe probe = Exact(request, capacity);
  probe.excess *= kSteepness;
  const bool is_final = request.phase == ProbePhase::kFinal;
  probe.excess_error = 0.06 / std::sqrt(is_final ? 3 : request.length);
  probe.excess += std::normal_distribution<>(0, probe.excess_error)(random) +
                  std::normal_distribution<>(0, kUnexplained)(random);
  if (std::bernoulli_distribution(kStallShare)(random)) {
    probe.excess += std::exponential_distribution<>(1 / kStallExcess)(random);
  }
  return probe;
}

TEST(LoadSearchTest, FindsTheCapacityOnARestlessHost) {
  constexpr int kSeeds = 200;
  constexpr double kCapacity = 333;
  int near_count = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    std::mt19937_64 random(seed);
    LoadSearch search({.initial_load = 100});
    const SearchResult result =
        RunSearch(search, [&](const ProbeRequest& request) {
          return RunOnRestlessHost(request, kCapacity, random);
        });
    const double error = result.load.value_or(0) / kCapacity - 1;
    if (std::abs(error) < 0.05) ++near_count;
  }
  EXPECT_GE(near_count, kSeeds * 97 / 100);
}

// A system that drops everything above 500, although it meets the objective
// below.
Probe Edge(const ProbeRequest& request) {
  Probe probe = Exact(request, 2000);
  if (request.load > 500) probe.excess = 2;
  return probe;
}

TEST(LoadSearchTest, BelievesAnEdgeThatIsConfirmed) {
  LoadSearch search({.initial_load = 100});
  const SearchResult result = RunSearch(search, Edge);
  EXPECT_EQ(result.verdict, SearchVerdict::kConverged) << result.evidence;
  EXPECT_NEAR(*result.load, 490, 10);
}

TEST(LoadSearchTest, LeavesOutAMissThatIsNotConfirmed) {
  LoadSearch search({.initial_load = 100});
  bool has_stalled = false;
  const SearchResult result =
      RunSearch(search, [&](const ProbeRequest& request) {
        Probe probe = Exact(request, 1000);
        const bool stalls = !has_stalled && request.load == 400;
        if (stalls) probe.excess = 1;
        has_stalled |= stalls;
        return probe;
      });
  EXPECT_EQ(result.verdict, SearchVerdict::kConverged) << result.evidence;
  EXPECT_NEAR(*result.load, 1000, 30);
}

TEST(LoadSearchTest, StopsAtTheHighestLoadAllowed) {
  LoadSearch search({.initial_load = 100, .max_load = 1000});
  const SearchResult result = RunSearch(
      search, [](const ProbeRequest& request) { return Exact(request, 5000); });
  EXPECT_EQ(result.verdict, SearchVerdict::kUpperBoundHit);
  EXPECT_EQ(result.load, 1000);
}

TEST(LoadSearchTest, OffersNothingOutsideOfTheLoadsAllowed) {
  // Capacities at and beside the bounds, measured with noise that puts the
  // fitted line's crossing outside of them.
  for (const double capacity : {102.0, 500.0, 985.0, 999.0, 1001.0, 1015.0}) {
    for (int seed = 0; seed < 50; ++seed) {
      std::mt19937_64 random(seed);
      LoadSearch search(
          {.initial_load = 400, .min_load = 100, .max_load = 1000});
      RunSearch(search, [&](const ProbeRequest& request) {
        EXPECT_GE(request.load, 100);
        EXPECT_LE(request.load, 1000);
        Probe probe = Exact(request, capacity);
        probe.excess += std::normal_distribution<>(0, 0.02)(random);
        probe.excess_error = 0.02;
        return probe;
      });
      if (search.result().load) EXPECT_LE(*search.result().load, 1000);
    }
  }
}

TEST(LoadSearchTest, OffersNoWholeNumberBeyondAFractionAllowed) {
  LoadSearch search(
      {.initial_load = 2, .min_load = 1.4, .max_load = 10.6, .is_whole = true});
  const SearchResult result =
      RunSearch(search, [](const ProbeRequest& request) {
        EXPECT_GE(request.load, 2);
        EXPECT_LE(request.load, 10);
        return Exact(request, 100);
      });
  EXPECT_EQ(result.verdict, SearchVerdict::kUpperBoundHit) << result.evidence;
  EXPECT_EQ(result.load, 10);
}

TEST(LoadSearchTest, StopsWhenItsProbesAreUsedUp) {
  LoadSearch search({.initial_load = 1, .max_probes = 6});
  const SearchResult result = RunSearch(
      search, [](const ProbeRequest& request) { return Exact(request, 1e6); });
  EXPECT_EQ(result.verdict, SearchVerdict::kBudgetExhausted);
  // load 1 twice, as warm-up and probe, then 2 to 16
  EXPECT_EQ(result.load, 16);
  EXPECT_EQ(search.probes().size(), 6);
}

TEST(LoadSearchTest, HandlesAbortedProbes) {
  LoadSearch search({.initial_load = 100});
  const SearchResult result =
      RunSearch(search, [](const ProbeRequest& request) {
        Probe probe = Exact(request, 500);
        if (request.load > 600) {
          probe.excess = std::numeric_limits<double>::infinity();
        }
        return probe;
      });
  EXPECT_EQ(result.verdict, SearchVerdict::kConverged);
  EXPECT_NEAR(*result.load, 500, 15);
}

TEST(LoadSearchTest, StepsDownWhenTheFinalRunMisses) {
  LoadSearch search({.initial_load = 100});
  const SearchResult result =
      RunSearch(search, [](const ProbeRequest& request) {
        // Long runs notice more.
        const bool is_final = request.phase == ProbePhase::kFinal;
        return Exact(request, is_final ? 490 : 500);
      });
  EXPECT_EQ(result.verdict, SearchVerdict::kConverged);
  EXPECT_NEAR(*result.load, 485, 10);
}

TEST(LoadSearchTest, FindsTheLastWholeNumberThatMeets) {
  for (const double capacity : {1.5, 3.2, 8.9, 37.0, 1234.5}) {
    LoadSearch search({.initial_load = 4, .min_load = 1, .is_whole = true});
    const SearchResult result =
        RunSearch(search, [&](const ProbeRequest& request) {
          EXPECT_EQ(request.load, std::floor(request.load));
          return Exact(request, capacity);
        });
    EXPECT_EQ(result.verdict, SearchVerdict::kConverged) << result.evidence;
    // Neighbours, or within the tolerance if that is wider.
    EXPECT_LE(*result.load, capacity);
    EXPECT_GE(*result.load, std::floor(capacity * 0.98));
  }
}

TEST(LoadSearchTest, StopsRefiningAtNeighbours) {
  LoadSearch search({.initial_load = 2, .min_load = 1, .is_whole = true});
  const SearchResult result = RunSearch(
      search, [](const ProbeRequest& request) { return Exact(request, 3.5); });
  EXPECT_EQ(result.load, 3);
  // Warm-up, 2, 4, 2 again, 3, and the final run.
  EXPECT_EQ(search.probes().size(), 6);
}

TEST(LoadSearchTest, StepsDownToTheNextWholeNumber) {
  LoadSearch search({.initial_load = 4, .min_load = 1, .is_whole = true});
  const SearchResult result =
      RunSearch(search, [](const ProbeRequest& request) {
        const bool is_final = request.phase == ProbePhase::kFinal;
        return Exact(request, is_final ? 4.5 : 5.5);
      });
  EXPECT_EQ(result.verdict, SearchVerdict::kConverged);
  EXPECT_EQ(result.load, 4);
}

TEST(LoadSearchTest, KnowsItsPhasesByName) {
  EXPECT_EQ(ParseProbePhase("refine"), ProbePhase::kRefine);
  EXPECT_EQ(ParseProbePhase("refined"), std::nullopt);
}

TEST(LoadSearchTest, GoesOnWhereItWasInterrupted) {
  const auto run = [](const ProbeRequest& request) {
    return Exact(request, 333);
  };
  LoadSearch whole({.initial_load = 100});
  RunSearch(whole, run);

  LoadSearch resumed({.initial_load = 100});
  for (size_t i = 0; i < whole.probes().size() / 2; ++i) {
    resumed.Add(whole.probes()[i]);
  }
  const SearchResult result = RunSearch(resumed, run);
  EXPECT_EQ(result.load, whole.result().load);
  EXPECT_EQ(resumed.probes().size(), whole.probes().size());
}

}  // namespace

// The end of a search: how often it repeats final runs, and what it says then.

namespace {

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
  EXPECT_FALSE(result.is_proven);
  EXPECT_EQ(result.interval.min, 300);
  EXPECT_FALSE(result.interval.max.has_value());
}

// However clearly its probes met.
TEST(FinalRunsTest, NothingIsProvenWithoutThem) {
  LoadSearch search({.initial_load = 100, .max_probes = 8});
  RunAll(search, 0.0001);
  EXPECT_EQ(search.result().verdict, SearchVerdict::kBudgetExhausted);
  EXPECT_THAT(FinalLengths(search), IsEmpty());
  EXPECT_TRUE(search.result().load.has_value());
  EXPECT_FALSE(search.result().is_proven);
}

// The response time of M/M/1 with 500 requests per second at most is three mean
// ones of 1 / (500 - load) at the 95th percentile.
SearchResult SearchOfQueue(double limit_seconds, double probe_seconds,
                           double queue_rate) {
  LoadSearch search({.initial_load = 100, .queue_rate = queue_rate});
  return RunSearch(search, [&](const ProbeRequest& request) {
    const double left = 500 - request.load;
    return Probe{.request = request,
                 .achieved_load = request.load,
                 .excess = left > 0 ? std::log(3 / left / limit_seconds)
                                    : std::numeric_limits<double>::infinity(),
                 .excess_error = 0.003,
                 .seconds = probe_seconds * request.length};
  });
}

// At 470 per second, the queue remembers for two seconds.
TEST(FinalRunsTest, ProveNothingNearSaturation) {
  const SearchResult result = SearchOfQueue(0.1, 10, 1);
  EXPECT_EQ(result.verdict, SearchVerdict::kConverged);
  EXPECT_NEAR(*result.load, 470, 10);
  EXPECT_FALSE(result.is_proven);
  EXPECT_THAT(result.evidence, HasSubstr("near saturation"));
  // Where that is not so, or is not known.
  for (const SearchResult& proven :
       {SearchOfQueue(0.1, 200, 1), SearchOfQueue(0.02, 10, 1),
        SearchOfQueue(0.1, 10, 0)}) {
    EXPECT_TRUE(proven.is_proven);
    EXPECT_THAT(proven.evidence, HasSubstr("proven at 95 %"));
  }
}

// The lowest load is tried before it is said to have missed.
TEST(FinalRunsTest, StepDownToTheEasiestLoad) {
  for (const bool meets : {true, false}) {
    LoadSearch search({.initial_load = 101, .min_load = 99.9, .max_load = 110});
    std::vector<double> finals;
    while (search.Next().has_value()) {
      const ProbeRequest request = *search.Next();
      Probe probe = Measure(request, 0.0005);
      const bool is_final = request.phase == ProbePhase::kFinal;
      if (is_final) finals.push_back(request.load);
      probe.excess = std::log(request.load / (!is_final ? 101.5
                                              : meets   ? 99.95
                                                        : 99));
      search.Add(probe);
    }
    ASSERT_FALSE(finals.empty());
    EXPECT_EQ(finals.back(), 99.9);
    EXPECT_GT(finals.front(), 99.9);
    EXPECT_EQ(search.result().verdict,
              meets ? SearchVerdict::kConverged
                    : SearchVerdict::kObjectiveUnreachable);
  }
}

// Runs until a final run that met by so much, and returns what follows. A probe
// just above its load missed.
std::optional<ProbeRequest> AfterFinalThatMetBy(double excess) {
  constexpr double kError = 0.003;
  LoadSearch search({.initial_load = 100});
  while (search.Next()->phase != ProbePhase::kFinal) {
    Probe probe = Measure(*search.Next(), kError);
    if (probe.request.phase == ProbePhase::kRefine) probe.excess += 0.02;
    search.Add(probe);
  }
  Probe probe = Measure(*search.Next(), kError);
  probe.excess = -excess;
  search.Add(probe);
  return search.Next();
}

// Twice as good as the line through the probes has it is too good: the miss
// next to it is measured again.
TEST(FinalRunsTest, ThatAreTooGoodCastDoubtOnTheMissNextToThem) {
  const auto after_good = AfterFinalThatMetBy(0.01);
  EXPECT_TRUE(!after_good || after_good->phase == ProbePhase::kFinal);
  const auto after_too_good = AfterFinalThatMetBy(0.1);
  ASSERT_TRUE(after_too_good.has_value());
  EXPECT_EQ(after_too_good->phase, ProbePhase::kRefine);
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

// A history of final runs at 100, each with its length and how far it was from
// the limit, as measured / limit.
ProbeHistory FinalRunsOf(const std::vector<std::pair<double, double>>& runs,
                         double error) {
  ProbeHistory history;
  for (const auto& [length, ratio] : runs) {
    history.Add({.request = {.phase = ProbePhase::kFinal,
                             .load = 100,
                             .length = length},
                 .excess = std::log(ratio),
                 .excess_error = error});
  }
  return history;
}

TEST(FinalRunsTest, CountByTheirLength) {
  ProbeHistory history = FinalRunsOf({{1, 1.2}, {3, 0.8}}, 0.3);
  history.Add(
      {.request = {.phase = ProbePhase::kFinal, .load = 90, .length = 5},
       .excess = -1,
       .excess_error = 0.3});
  const std::optional<Probe> at_100 = history.FinalRunsAt(100);
  ASSERT_TRUE(at_100.has_value());
  EXPECT_NEAR(at_100->excess, std::log(0.9), 1e-9);
  // The errors of the two runs are 0.36 and 0.24 of the limit.
  EXPECT_NEAR(at_100->excess_error, std::hypot(0.36, 3 * 0.24) / 4 / 0.9, 1e-9);
  EXPECT_EQ(at_100->request.length, 4);
  EXPECT_EQ(history.FinalLength(), 9);
  EXPECT_FALSE(history.FinalRunsAt(80).has_value());
}

// Two runs without failures do not make up for two with several times as many
// as are allowed: 0 is far below the limit only as a logarithm.
TEST(FinalRunsTest, WithoutFailuresDoNotOutweighThoseThatMissedByFar) {
  const double none = std::exp(-5);
  const std::optional<Probe> all =
      FinalRunsOf({{1, none}, {1, none}, {2, 5.55}, {4, 2.86}}, 0.1)
          .FinalRunsAt(100);
  ASSERT_TRUE(all.has_value());
  EXPECT_TRUE(Missed(*all));
  EXPECT_NEAR(std::exp(all->excess), (2 * 5.55 + 4 * 2.86) / 8, 0.01);
}

TEST(FinalRunsTest, OfWhichOneHasNoValueHaveNone) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ProbeHistory history = FinalRunsOf({{1, 0.5}, {1, 0.5}}, kInfinity);
  history.Add(
      {.request = {.phase = ProbePhase::kFinal, .load = 100, .length = 2},
       .excess = kInfinity,
       .excess_error = 0});
  const std::optional<Probe> all = history.FinalRunsAt(100);
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->excess, kInfinity);
  EXPECT_EQ(all->excess_error, 0);
}

// Final runs that met are the answer if there is no probe left; a load whose
// final runs missed, all together, is none, although the first of them met.
TEST(FinalRunsTest, ThatMissedTogetherAreNoAnswerIfTheProbesAreUsedUp) {
  for (const double second : {0.6, 1.9}) {
    LoadSearch search({.initial_load = 100});
    while (search.Next()->phase != ProbePhase::kFinal) {
      search.Add(Measure(*search.Next(), 0.3));
    }
    const double load = search.Next()->load;
    for (const double ratio : {0.5, second}) {
      ASSERT_TRUE(search.Next().has_value());
      ASSERT_EQ(search.Next()->load, load);
      Probe probe = Measure(*search.Next(), 0.3);
      probe.excess = std::log(ratio);
      search.Add(probe);
    }
    search.EndEarly("no time");
    const SearchResult& result = search.result();
    if (second < 1) {
      EXPECT_EQ(result.verdict, SearchVerdict::kConverged);
      EXPECT_EQ(result.load, load);
      continue;
    }
    EXPECT_EQ(result.verdict, SearchVerdict::kBudgetExhausted);
    EXPECT_NE(result.load, load);
    EXPECT_FALSE(result.is_proven);
  }
}

}  // namespace
}  // namespace distbench::search
