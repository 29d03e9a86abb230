// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/arrivals/arrival_stream.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/arrivals/testing/arrival_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;

TEST(ArrivalStreamTest, ThePValueIsRightAtKnownQuantiles) {
  // Of the limit distribution: 1.358 is its 95 % quantile. Values at the middle
  // of their ranks, and shifted by the distance.
  constexpr int kValues = 1'000'000;
  std::vector<double> values;
  for (int i = 0; i < kValues; ++i) {
    values.push_back((i + 0.5) / kValues + 1.358 / std::sqrt(kValues));
  }
  EXPECT_NEAR(KolmogorovPValue(values), 0.05, 0.002);
}

TEST(ArrivalStreamTest, ExponentialGapsAreExponential) {
  ExpectGapsOf("", Same, ExponentialCdf);
}

TEST(ArrivalStreamTest, GammaGapsHaveTheirVariation) {
  for (const double variation : {0.3, 1.0, 3.0}) {
    ExpectGapsOf(
        absl::StrCat("process: 'gamma' coefficient_of_variation: ", variation),
        Same, GammaCdf(variation));
  }
}

TEST(ArrivalStreamTest, AThinnedPoissonProcessIsOne) {
  ExpectGapsOf("kept_share: 0.2", Same, ExponentialCdf);
}

TEST(ArrivalStreamTest, SuperposedPoissonProcessesAreOne) {
  ExpectGapsOf("superposed { share: 3 } superposed { share: 1 }", Same,
               ExponentialCdf);
}

TEST(ArrivalStreamTest, WorkersTogetherHaveTheSameArrivals) {
  const ArrivalPlan plan = PlanOf(
      "superposed { process: 'gamma' coefficient_of_variation: 3 "
      "modulations { markov { states { factor: 0 mean_duration_ns: 9000000 } "
      "states { factor: 4 mean_duration_ns: 3000000 } } } } "
      "superposed { kept_share: 0.5 client_phase: 'random' "
      "process: 'constant' }");
  const std::vector<double> alone = Times(plan, 7, 3000);
  for (const int shards : {2, 3, 7}) {
    std::vector<double> together;
    for (int shard = 0; shard < shards; ++shard) {
      const std::vector<double> times = Times(
          ArrivalStream(plan, kIntervalNs,
                        {.seed = 7, .shard = shard, .shard_count = shards}),
          3000);
      together.insert(together.end(), times.begin(), times.end());
    }
    std::sort(together.begin(), together.end());
    together.resize(alone.size());
    EXPECT_EQ(together, alone) << shards;
  }
}

TEST(ArrivalStreamTest, ConstantArrivalsWaitForTheEndOfATimeWithoutAny) {
  EXPECT_THAT(Times(PlanOf("process: 'constant' modulations { schedule { "
                           "segments { duration_ns: 5000000 factor: 0 } "
                           "segments { duration_ns: 1000000 factor: 2 } } }"),
                    1, 4),
              ElementsAre(5 * kMs, 5.5 * kMs, 6 * kMs, 6.5 * kMs));
}

// The n-th is due when the integral of the ramp, t^2 per second, is n times
// 0.1.
TEST(ArrivalStreamTest, ConstantArrivalsOnARampAreExact) {
  const ArrivalPlan plan = PlanOf(
      "process: 'constant' modulations { schedule { segments { duration_ns: "
      "1000000000 factor: 0 to_factor: 2 } } }");
  const std::vector<double> times =
      Times(ArrivalStream(plan, 100 * kMs, {}), 10);
  for (int i = 0; i < 10; ++i) {
    EXPECT_NEAR(times[i], kSecond * std::sqrt(0.1 * i), 1e-3) << i;
  }
}

TEST(ArrivalStreamTest, ARateOfZeroForEverIsAnArrivalNever) {
  const ArrivalPlan plan = PlanOf(
      "process: 'constant' modulations { schedule { "
      "segments { duration_ns: 2500000 factor: 1 } "
      "segments { duration_ns: 1000 factor: 0 } } }");
  for (const int shards : {1, 3}) {
    const std::vector<double> times =
        Times(ArrivalStream(plan, kIntervalNs, {.shard_count = shards}), 5);
    EXPECT_TRUE(std::isinf(times.back()));
  }
}

TEST(ArrivalStreamTest, ASearchGivesUpAndGoesOn) {
  // Two on/off processes that are never on together.
  const std::string opposite =
      "modulations { schedule { repeat: true "
      "segments { duration_ns: 1000 factor: 0 } "
      "segments { duration_ns: 1000 factor: 1 } } } "
      "modulations { schedule { repeat: true "
      "segments { duration_ns: 1000 factor: 1 } "
      "segments { duration_ns: 1000 factor: 0 } } }";
  const ArrivalPlan plan = PlanOf(opposite);
  ArrivalStream stream(plan, kIntervalNs, {});
  ASSERT_FALSE(stream.found());
  const double looked_at_ns = stream.time_ns();
  EXPECT_GT(looked_at_ns, 0);
  stream.Search();
  EXPECT_FALSE(stream.found());
  EXPECT_GT(stream.time_ns(), looked_at_ns);
}

std::vector<double> FirstTimes(const std::string& arrivals, int clients) {
  const ArrivalPlan plan = PlanOf(arrivals);
  std::vector<double> first;
  for (int i = 0; i < clients; ++i) {
    first.push_back(Times(ArrivalStream(plan, kIntervalNs,
                                        {.seed = 3, .client = {i, clients}}),
                          1)
                        .front());
  }
  return first;
}

TEST(ArrivalStreamTest, ClientsStartInTheirPhase) {
  const std::string constant = "process: 'constant' ";
  EXPECT_THAT(FirstTimes(constant, 2), ElementsAre(0, 0));
  EXPECT_THAT(FirstTimes(constant + "client_phase: 'spread'", 4),
              ElementsAre(0, 0.25 * kMs, 0.5 * kMs, 0.75 * kMs));
  std::vector<double> uniform =
      FirstTimes(constant + "client_phase: 'random'", 1000);
  for (double& time : uniform) time /= kIntervalNs;
  EXPECT_GT(KolmogorovPValue(uniform), 0.001);
}

// The wait from a random point of a renewal process with the variation c to
// its next arrival is (1 + c^2) / 2 intervals on average.
TEST(ArrivalStreamTest, ARandomPhaseFindsLongGapsMoreOften) {
  constexpr int kClients = 20'000;
  double sum = 0;
  for (const double time :
       FirstTimes("process: 'gamma' coefficient_of_variation: 2 "
                  "client_phase: 'random'",
                  kClients)) {
    sum += time / kIntervalNs;
  }
  // Five standard errors: the wait's deviation is below 5.
  EXPECT_NEAR(sum / kClients, 2.5, 5 * 5 / std::sqrt(kClients));
}

TEST(ArrivalStreamTest, ModulationsStartInTheirPhase) {
  const std::string on_off =
      "process: 'constant' modulations { on_off { on_ns: 1000000 off_ns: "
      "3000000 } client_phase: '";
  EXPECT_THAT(FirstTimes(on_off + "none' }", 4), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(FirstTimes(on_off + "spread' }", 4),
              ElementsAre(0, 3 * kMs, 2 * kMs, 1 * kMs));
}

TEST(ArrivalStreamTest, AllClientsMayBeInTheSameState) {
  const std::string markov =
      "process: 'constant' modulations { markov { "
      "states { factor: 0 mean_duration_ns: 90000000 } "
      "states { factor: 1 mean_duration_ns: 1000000 } } ";
  const std::vector<double> common =
      FirstTimes(markov + "client_phase: 'none' }", 3);
  EXPECT_EQ(common[0], common[1]);
  EXPECT_EQ(common[0], common[2]);
  const std::vector<double> own = FirstTimes(markov + "}", 3);
  EXPECT_NE(own[0], own[1]);
}

TEST(ArrivalStreamTest, ARecordingRepeatsItsGaps) {
  // Gaps of 1, 2 and 0 seconds, whose mean becomes 1 ms.
  const std::string recording =
      "process: 'recorded' recorded { times: '# s\\n10\\n11\\n\\n13\\n13\\n' }";
  EXPECT_THAT(Times(PlanOf(recording), 1, 8),
              ElementsAre(0, 1 * kMs, 3 * kMs, 3 * kMs, 4 * kMs, 6 * kMs,
                          6 * kMs, 7 * kMs));
  EXPECT_THAT(FirstTimes(recording + " client_phase: 'spread'", 3),
              ElementsAre(0, 0, 1 * kMs));
}

TEST(ArrivalStreamTest, ARecordingThatDoesNotRepeatEnds) {
  const std::string once =
      "process: 'recorded' "
      "recorded { times: '10\\n11\\n13\\n13\\n' repeat: false } ";
  for (const int shards : {1, 2}) {
    EXPECT_THAT(
        Times(ArrivalStream(PlanOf(once), kIntervalNs, {.shard_count = shards}),
              4 / shards + 2),
        testing::Contains(HUGE_VAL).Times(2))
        << shards;
  }
  EXPECT_THAT(Times(PlanOf(once), 1, 6),
              ElementsAre(0, 1 * kMs, 3 * kMs, 3 * kMs, HUGE_VAL, HUGE_VAL));
  // What thinning leaves out is no reason to begin again.
  double sum = 0;
  for (int seed = 0; seed < 1000; ++seed) {
    for (const double time : Times(PlanOf(once + "kept_share: 0.5"), seed, 5)) {
      sum += std::isinf(time) ? 0 : 1;
    }
  }
  EXPECT_NEAR(sum / 1000, 2, 5 * 1 / std::sqrt(1000));
}

// Whatever the rate, as many are skipped as were due, in the long run.
TEST(ArrivalStreamTest, SkippingFollowsTheRatesOfTheSources) {
  // In 10 s, 10,000 / 2 of the first, and 2,000 / 2 of the second.
  const ArrivalPlan plan = PlanOf(
      "superposed { process: 'gamma' coefficient_of_variation: 2 } "
      "superposed { kept_share: 0.5 modulations { schedule { "
      "segments { duration_ns: 2000000000 } "
      "segments { duration_ns: 1000 factor: 0 } } } }");
  for (const int shards : {1, 3}) {
    ArrivalStream stream(plan, kIntervalNs, {.shard_count = shards});
    int64_t skipped = 0;
    while (stream.time_ns() < 10 * kSecond) {
      stream.Skip(10);
      skipped += 10 * shards;
    }
    EXPECT_NEAR(static_cast<double>(skipped), 6000, 100) << shards;
  }
}

TEST(ArrivalStreamTest, AFactorThatStaysZeroEndsTheSearch) {
  const ArrivalPlan plan = PlanOf(
      "modulations { sine { period_ns: 1000000 } } "
      "modulations { schedule { segments { duration_ns: 1000 factor: 0 } } }");
  const ArrivalStream stream(plan, 1e12, {});
  EXPECT_TRUE(stream.found());
  EXPECT_TRUE(std::isinf(stream.time_ns()));
}

}  // namespace
}  // namespace distbench::config
