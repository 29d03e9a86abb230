// Whether arrivals have the distribution that was asked for.
//
// The rate's integral is computed here in closed form. Times that are mapped by
// it have independent gaps of the process's own distribution (the
// time-rescaling theorem), on which the Kolmogorov-Smirnov test is exact. It is
// done for 20 fixed seeds; a right process fails the whole of it with a
// probability of 0.001 (Bonferroni: 0.00005 for each seed).

#include "distbench/config/arrivals/arrival_stream.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "boost/math/distributions/chi_squared.hpp"
#include "boost/math/distributions/gamma.hpp"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::ElementsAre;

constexpr int kSeeds = 20;
constexpr double kSignificance = 0.001 / kSeeds;
constexpr int kCount = 5000;
constexpr double kIntervalNs = 1e6;
constexpr double kMs = 1e6;
constexpr double kSecond = 1e9;

using Integral = std::function<double(double time_ns)>;
using Cdf = std::function<double(double gap)>;

ArrivalPlan PlanOf(const std::string& text) {
  return CompileArrivals(FromText<Arrivals>(text));
}

std::vector<double> Times(ArrivalStream stream, int count) {
  std::vector<double> times;
  while (std::ssize(times) < count) {
    if (!stream.found()) {
      stream.Search();
      continue;
    }
    times.push_back(stream.time_ns());
    stream.Advance();
  }
  return times;
}

std::vector<double> Times(const ArrivalPlan& plan, uint64_t seed, int count) {
  return Times(ArrivalStream(plan, kIntervalNs, {.seed = seed}), count);
}

// The probability that the Kolmogorov-Smirnov statistic of n values is as large
// by chance: Kolmogorov's series, with the correction for n of Stephens, EDF
// statistics for goodness of fit and some comparisons, 1974.
double KolmogorovPValue(std::vector<double> uniform) {
  std::sort(uniform.begin(), uniform.end());
  const double n = static_cast<double>(uniform.size());
  double distance = 0;
  for (size_t i = 0; i < uniform.size(); ++i) {
    const double rank = static_cast<double>(i);
    distance = std::max(
        {distance, uniform[i] - rank / n, (rank + 1) / n - uniform[i]});
  }
  const double x = distance * (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n));
  double sum = 0;
  for (int k = 1; k <= 100; ++k) {
    sum += (k % 2 == 1 ? 2 : -2) * std::exp(-2 * k * k * x * x);
  }
  return x < 0.2 ? 1 : std::clamp(sum, 0.0, 1.0);
}

double ExponentialCdf(double gap) { return -std::expm1(-gap); }

Cdf GammaCdf(double variation) {
  const double shape = 1 / (variation * variation);
  return [gamma = boost::math::gamma_distribution<double>(shape, 1 / shape)](
             double gap) { return boost::math::cdf(gamma, gap); };
}

void ExpectGapsOf(const std::string& arrivals, const Integral& integral,
                  const Cdf& cdf) {
  const ArrivalPlan plan = PlanOf(arrivals);
  SmallRandom random(1);
  for (int seed = 0; seed < kSeeds; ++seed) {
    const std::vector<double> times = Times(plan, seed, kCount);
    std::vector<double> uniform;
    for (size_t i = 1; i < times.size(); ++i) {
      const double gap =
          (integral(times[i]) - integral(times[i - 1])) / kIntervalNs;
      // Bursts have gaps below the resolution of times; a random value within
      // it is uniform, too.
      const double resolution =
          (std::nextafter(times[i], HUGE_VAL) - times[i]) / kIntervalNs;
      const double from = cdf(std::max(0.0, gap - resolution));
      const double to = cdf(std::max(0.0, gap + resolution));
      uniform.push_back(from + (to - from) * random.Share());
    }
    EXPECT_GT(KolmogorovPValue(uniform), kSignificance)
        << arrivals << ", seed " << seed;
  }
}

double Same(double time_ns) { return time_ns; }

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

TEST(ArrivalStreamTest, ASineModulatesAnyProcess) {
  const auto integral = [](double time_ns) {
    const double omega = 2 * std::numbers::pi / kSecond;
    return time_ns + 0.8 / omega *
                         (std::cos(omega * 0.25 * kSecond) -
                          std::cos(omega * (time_ns + 0.25 * kSecond)));
  };
  const std::string sine =
      "modulations { sine { period_ns: 1000000000 amplitude: 0.8 phase: 0.25 } "
      "}";
  ExpectGapsOf(sine, integral, ExponentialCdf);
  ExpectGapsOf(sine + " process: 'gamma' coefficient_of_variation: 2", integral,
               GammaCdf(2));
}

TEST(ArrivalStreamTest, OnAndOffTakeTurns) {
  const auto integral = [](double time_ns) {
    const double round = std::floor(time_ns / (100 * kMs));
    return round * 30 * kMs + std::min(time_ns - round * 100 * kMs, 30 * kMs);
  };
  ExpectGapsOf("modulations { on_off { on_ns: 30000000 off_ns: 70000000 } }",
               integral, ExponentialCdf);
}

TEST(ArrivalStreamTest, ARampAndStepsFollowTheirSchedule) {
  // From 0 to 2 in a second, then 0.5 for a second, then 3.
  const auto integral = [](double time_ns) {
    const double x = time_ns / kSecond;
    if (x < 1) return kSecond * x * x;
    return kSecond * (x < 2 ? 1 + 0.5 * (x - 1) : 1.5 + 3 * (x - 2));
  };
  ExpectGapsOf(
      "modulations { schedule { "
      "segments { duration_ns: 1000000000 factor: 0 to_factor: 2 } "
      "segments { duration_ns: 1000000000 factor: 0.5 } "
      "segments { duration_ns: 1000000000 factor: 3 } } }",
      integral, ExponentialCdf);
}

TEST(ArrivalStreamTest, ModulationsMultiply) {
  // A ramp from 1 to 3 in 4 s, times steps of 1 and 2.
  const auto ramp = [](double x) { return x + x * x / 4; };
  const auto integral = [&](double time_ns) {
    const double x = time_ns / kSecond;
    double sum = 0;
    for (int i = 0; i < x; ++i) {
      const double end = std::min<double>(x, i + 1);
      sum += (ramp(std::min(4.0, end)) - ramp(std::min<double>(4, i)) +
              3 * (std::max(4.0, end) - std::max<double>(4, i))) *
             (i % 2 == 0 ? 1 : 2);
    }
    return kSecond * sum;
  };
  ExpectGapsOf(
      "modulations { schedule { "
      "segments { duration_ns: 4000000000 factor: 1 to_factor: 3 } } } "
      "modulations { schedule { repeat: true "
      "segments { duration_ns: 1000000000 factor: 1 } "
      "segments { duration_ns: 1000000000 factor: 2 } } }",
      integral, ExponentialCdf);
}

// The square of a ramp is a parabola: cells approximate what is not linear.
TEST(ArrivalStreamTest, ChangesAtTheSameTimeMultiply) {
  const auto integral = [](double time_ns) {
    const double x = std::min(1.0, time_ns / (4 * kSecond));
    return 4 * kSecond * x * x * x / 3 + std::max(0.0, time_ns - 4 * kSecond);
  };
  const std::string ramp =
      "modulations { schedule { "
      "segments { duration_ns: 4000000000 factor: 0 to_factor: 1 } } } ";
  ExpectGapsOf(ramp + ramp, integral, ExponentialCdf);
}

// Counts per tenth of the period have the probabilities that the sine gives
// them (chi-square; a right process fails with a probability of 0.001).
TEST(ArrivalStreamTest, CountsFollowTheSine) {
  constexpr int kBins = 10;
  const ArrivalPlan plan =
      PlanOf("modulations { sine { period_ns: 1000000000 amplitude: 1 } }");
  std::vector<double> counts(kBins, 0);
  double total = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    for (const double time_ns : Times(plan, seed, 10'000)) {
      if (time_ns > 9 * kSecond) break;
      ++counts[static_cast<int>(time_ns / (kSecond / kBins)) % kBins];
      ++total;
    }
  }
  double statistic = 0;
  for (int i = 0; i < kBins; ++i) {
    const double from = 2 * std::numbers::pi * i / kBins;
    const double to = 2 * std::numbers::pi * (i + 1) / kBins;
    const double expected = 9000.0 * kSeeds *
                            (to - from + std::cos(from) - std::cos(to)) /
                            (2 * std::numbers::pi);
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  EXPECT_LT(statistic,
            boost::math::quantile(boost::math::chi_squared(kBins), 1 - 0.001));
  EXPECT_NEAR(total, 9000.0 * kSeeds, 4 * std::sqrt(9000.0 * kSeeds));
}

// A Markov-modulated Poisson process of two states: the mean rate, and the
// limit of the index of dispersion of its counts, 1 + 2 (a - b)^2 p q / ((1/s +
// 1/t) m) with factors a, b, their shares of time p, q, mean durations s, t in
// intervals, and mean factor m (Fischer and Meier-Hellstern, The
// Markov-modulated Poisson process cookbook, 1993). Both within five standard
// errors over seeds.
TEST(ArrivalStreamTest, MarkovStatesHaveTheirMeanAndDispersion) {
  const ArrivalPlan plan = PlanOf(
      "modulations { markov { states { factor: 5 mean_duration_ns: 20000000 } "
      "states { factor: 0.5 mean_duration_ns: 60000000 } } }");
  constexpr double kWindow = 4 * kSecond;
  constexpr int kWindows = 50;
  constexpr double kMean = (5 * 20 + 0.5 * 60) / 80;
  constexpr double kDispersion =
      1 + 2 * 4.5 * 4.5 * 0.25 * 0.75 / ((1.0 / 20 + 1.0 / 60) * kMean);
  std::vector<double> counts(kSeeds * kWindows, 0);
  for (int seed = 0; seed < kSeeds; ++seed) {
    for (const double time_ns : Times(plan, seed, 400'000)) {
      if (time_ns >= kWindows * kWindow) break;
      ++counts[seed * kWindows + static_cast<int>(time_ns / kWindow)];
    }
  }
  double mean = 0, variance = 0;
  for (const double count : counts) mean += count / counts.size();
  for (const double count : counts) {
    variance += (count - mean) * (count - mean) / (counts.size() - 1);
  }
  const double expected = kMean * kWindow / kIntervalNs;
  EXPECT_NEAR(mean, expected,
              5 * std::sqrt(kDispersion * expected / counts.size()));
  EXPECT_NEAR(variance / mean, kDispersion,
              5 * kDispersion * std::sqrt(2.0 / counts.size()) + 0.5);
}

TEST(ArrivalStreamTest, ExponentialOnAndOffTimesKeepTheirShares) {
  const ArrivalPlan plan = PlanOf(
      "process: 'constant' modulations { on_off { on_ns: 2000000 off_ns: "
      "8000000 times: 'exponential' } }");
  double last_ns = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    last_ns += Times(plan, seed, 10'000).back();
  }
  // The time off comes in pieces, of which there are 5000 for each seed.
  EXPECT_NEAR(last_ns / (kSeeds * 10'000), 5 * kMs, 0.05 * kMs);
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
}  // namespace distbench
