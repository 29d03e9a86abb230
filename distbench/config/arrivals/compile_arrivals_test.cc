// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/arrivals/compile_arrivals.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/arrivals/check_arrivals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// At 1000 per second.
double MeanRate(const std::string& arrivals, int seconds = 0) {
  Iterations iterations = base::FromText<Iterations>(absl::StrCat(
      "open_loop_interval_ns: 1000000 arrivals { ", arrivals, " }"));
  if (seconds > 0) iterations.set_max_duration_us(1'000'000L * seconds);
  return MeanRatePerSecond(iterations);
}

double Dispersion(const std::string& arrivals) {
  return IndexOfDispersion(CompileArrivals(base::FromText<Arrivals>(arrivals)));
}

TEST(IndexOfDispersionTest, FollowsFromTheGapsAndTheThinning) {
  EXPECT_EQ(Dispersion(""), 1);
  EXPECT_EQ(Dispersion("process: 'constant'"), 0);
  EXPECT_NEAR(Dispersion("process: 'constant' kept_share: 0.2"), 0.8, 1e-9);
  EXPECT_NEAR(Dispersion("process: 'gamma' coefficient_of_variation: 3"), 9,
              1e-9);
  EXPECT_NEAR(Dispersion("process: 'gamma' coefficient_of_variation: 3 "
                         "kept_share: 0.25"),
              3, 1e-9);
  EXPECT_NEAR(Dispersion("superposed { process: 'constant' share: 3 } "
                         "superposed { process: 'gamma' "
                         "coefficient_of_variation: 4 }"),
              4, 1e-9);
  // Gaps of 1 and 3: half of their mean to both sides.
  EXPECT_NEAR(Dispersion("process: 'recorded' recorded { times: '0\\n1\\n4' }"),
              0.25, 1e-9);
}

TEST(MeanRateTest, OfSimpleLoops) {
  EXPECT_EQ(MeanRatePerSecond(Iterations()), 0);
  EXPECT_EQ(MeanRatePerSecond(
                base::FromText<Iterations>("open_loop_interval_ns: 1000")),
            1e6);
  EXPECT_EQ(MeanRate("process: 'gamma' coefficient_of_variation: 3"), 1000);
  EXPECT_EQ(MeanRate("kept_share: 0.1"), 1000) << "what is kept has the rate";
}

TEST(MeanRateTest, OfModulationsInTheLongRun) {
  EXPECT_NEAR(MeanRate("modulations { sine { period_ns: 60000000000 } }"), 1000,
              1e-6);
  EXPECT_NEAR(MeanRate("modulations { on_off { on_ns: 1000000 off_ns: 3000000 "
                       "off_factor: 0.2 } }"),
              400, 1e-6);
  EXPECT_NEAR(MeanRate("modulations { markov { "
                       "states { factor: 5 mean_duration_ns: 1000000000 } "
                       "states { mean_duration_ns: 9000000000 } } }"),
              1400, 1e-6);
  EXPECT_NEAR(MeanRate("modulations { schedule { "
                       "segments { duration_ns: 1000 factor: 0 to_factor: 7 } "
                       "} }"),
              7000, 1e-6);
  EXPECT_NEAR(MeanRate("superposed { share: 3 } superposed { modulations { "
                       "on_off { on_ns: 1000 off_ns: 1000 } } }"),
              875, 1e-6);
}

TEST(MeanRateTest, DependsOnTheDuration) {
  const std::string ramp =
      "modulations { schedule { "
      "segments { duration_ns: 10000000000 factor: 0 to_factor: 2 } } }";
  EXPECT_NEAR(MeanRate(ramp, 5), 500, 1e-6);
  EXPECT_NEAR(MeanRate(ramp, 10), 1000, 1e-6);
  EXPECT_NEAR(MeanRate(ramp, 20), 1500, 1e-6);
  // Half of the time, while the ramp is low.
  EXPECT_NEAR(MeanRate(ramp + " modulations { on_off { on_ns: 5000000000 "
                              "off_ns: 5000000000 } }",
                       10),
              250, 1e-6);
  // Averaged: a million periods.
  EXPECT_NEAR(MeanRate(ramp + " modulations { on_off { on_ns: 5000 off_ns: "
                              "5000 } }",
                       10),
              500, 1e-6);
}

TEST(MeanRateTest, OfInvalidArrivalsIsTheRate) {
  EXPECT_EQ(MeanRate("modulations { schedule {} }"), 1000);
  EXPECT_EQ(MeanRate("process: 'recorded'"), 1000);
}

TEST(ArrivalSeedTest, DependsOnEverything) {
  const uint64_t seed = ArrivalSeed(1, 2, 3, 4);
  EXPECT_NE(ArrivalSeed(0, 2, 3, 4), seed);
  EXPECT_NE(ArrivalSeed(1, 3, 2, 4), seed);
  EXPECT_NE(ArrivalSeed(1, 2, 4, 3), seed);
  EXPECT_EQ(ArrivalSeed(1, 2, 3, 4), seed);
}

TEST(RecordingTest, GapsAreInSeconds) {
  EXPECT_THAT(*ParseRecording("# seconds\n1.5\r\n1.75\n\n2e0"),
              ElementsAre(0.25, 0.25));
}

TEST(RecordingTest, ErrorsNameTheLine) {
  const auto error = [](const std::string& text) {
    return std::string(ParseRecording(text).status().message());
  };
  EXPECT_THAT(error("1\n2\nx\n"), HasSubstr("line 3 is not a time"));
  EXPECT_THAT(error("1\nnan\n3"), HasSubstr("line 2 is not a time"));
  EXPECT_THAT(error("1\n3\n2\n"), HasSubstr("line 3 is before"));
  EXPECT_THAT(error("1\n2\n"), HasSubstr("has 2 times"));
  EXPECT_THAT(error(""), HasSubstr("has 0 times"));
  EXPECT_THAT(error("1\n1\n1"), HasSubstr("no time between"));
  EXPECT_THAT(error("0\n1e-320\n2e-320"), HasSubstr("no time between"));
  EXPECT_THAT(error("-1e308\n0\n1.7e308"), HasSubstr("no time between"));
}

std::vector<std::string> ProblemsOf(const std::string& arrivals) {
  Problems problems;
  CheckArrivals(base::FromText<Arrivals>(arrivals), Path("a"), problems);
  std::vector<std::string> texts;
  for (const Problem& problem : std::move(problems).Take()) {
    texts.push_back(ToString(problem));
  }
  return texts;
}

TEST(CheckArrivalsTest, AcceptsWhatIsRight) {
  EXPECT_THAT(ProblemsOf(""), IsEmpty());
  EXPECT_THAT(ProblemsOf("process: 'gamma' coefficient_of_variation: 3"),
              IsEmpty());
  EXPECT_THAT(ProblemsOf("superposed {} superposed { share: 2 }"), IsEmpty());
}

TEST(CheckArrivalsTest, NamesPlaceProblemAndRemedy) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"process: 'pareto'", "a.process: \"pareto\" is not a process"},
      {"process: 'gamma'", "a.coefficient_of_variation: is missing"},
      {"process: 'gamma' coefficient_of_variation: nan", "out of range"},
      {"coefficient_of_variation: 2", "has an effect for gamma only"},
      {"process: 'recorded'", "a.recorded.file: is missing"},
      {"process: 'recorded' recorded { times: '1' }", "has 1 times"},
      {"recorded { file: 'x' }", "has an effect for recorded arrivals only"},
      {"kept_share: 0", "a.kept_share: 0 is out of range"},
      {"client_phase: 'all'", "is not a phase"},
      {"share: 2", "a.share: has no effect"},
      {"superposed {} kept_share: 0.5", "superposed excludes"},
      {"superposed { superposed {} }", "a.superposed[0].superposed: is within"},
      {"superposed { share: -1 }", "a.superposed[0].share: -1 is out of range"},
      {"superposed { process: 'recorded' recorded { times: '1\\n2\\n3' repeat: "
       "false } }",
       "cannot end"},
      {"modulations {}", "a.modulations[0]: changes nothing"},
      {"modulations { sine {} }", "sine.period_ns: 0 is out of range"},
      {"modulations { sine { period_ns: 1000000 amplitude: 1.5 } }",
       "sine.amplitude: 1.5"},
      {"modulations { on_off { on_ns: 1000 off_ns: 999 } }",
       "on_off.off_ns: 999"},
      {"modulations { on_off { on_ns: 1000 off_ns: 1000 times: 'x' } }",
       "is not a kind of times"},
      {"modulations { schedule {} }", "segments: there are 0"},
      {"modulations { schedule { segments { duration_ns: 1000 factor: 0 } } }",
       "all have the factor 0"},
      {"modulations { markov { states { mean_duration_ns: 1000 } } }",
       "states: there are 1"},
      {"modulations { schedule { segments { duration_ns: 1000 } } "
       "client_phase: 'spread' }",
       "is not a phase of this modulation"},
      {"modulations { markov { states { mean_duration_ns: 1000 } "
       "states { mean_duration_ns: 1000 } } client_phase: 'spread' }",
       "is not a phase of this modulation"},
  };
  for (const auto& [arrivals, problem] : cases) {
    EXPECT_THAT(ProblemsOf(arrivals), testing::Contains(HasSubstr(problem)))
        << arrivals;
  }
}

}  // namespace
}  // namespace distbench::config
