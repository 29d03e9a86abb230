#include "test_builder/parameters/arrivals_text.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::test_builder {
namespace {

using ::testing::HasSubstr;

TEST(ArrivalsTextTest, PiecesAreComposed) {
  const auto arrivals =
      ParseArrivals("gamma:3+sine:1m:0.5+bursts:5:1s:9s+kept:0.5+spread_phase");
  ASSERT_TRUE(arrivals.ok()) << arrivals.status();
  EXPECT_EQ(arrivals->process(), "gamma");
  EXPECT_EQ(arrivals->coefficient_of_variation(), 3);
  EXPECT_EQ(arrivals->kept_share(), 0.5);
  EXPECT_EQ(arrivals->client_phase(), "spread");
  ASSERT_EQ(arrivals->modulations_size(), 2);
  EXPECT_EQ(arrivals->modulations(0).sine().period(), "1m");
  EXPECT_EQ(arrivals->modulations(0).sine().amplitude(), 0.5);
  const MarkovRate& markov = arrivals->modulations(1).markov();
  EXPECT_EQ(markov.states(0).factor(), 5);
  EXPECT_EQ(markov.states(0).mean_duration(), "1s");
  EXPECT_EQ(markov.states(1).factor(), 1);
  EXPECT_EQ(markov.states(1).mean_duration(), "9s");
}

TEST(ArrivalsTextTest, StepsAreEvenlyApart) {
  const auto arrivals = ParseArrivals("steps:1:4:3:10s");
  ASSERT_TRUE(arrivals.ok()) << arrivals.status();
  const RateSchedule& schedule = arrivals->modulations(0).schedule();
  ASSERT_EQ(schedule.segments_size(), 3);
  EXPECT_EQ(schedule.segments(0).factor(), 1);
  EXPECT_EQ(schedule.segments(1).factor(), 2.5);
  EXPECT_EQ(schedule.segments(2).factor(), 4);
  EXPECT_EQ(schedule.segments(2).duration(), "10s");
}

TEST(ArrivalsTextTest, ErrorsSayWhatIsRight) {
  const auto error = [](const std::string& text) {
    return std::string(ParseArrivals(text).status().message());
  };
  EXPECT_THAT(error("gamma"), HasSubstr("must be gamma:VARIATION"));
  EXPECT_THAT(error("gamma:x"), HasSubstr("must be gamma:VARIATION"));
  EXPECT_THAT(error("constant:1"), HasSubstr("must be constant"));
  EXPECT_THAT(error("steps:1:2:1:1s"), HasSubstr("COUNT"));
  EXPECT_THAT(error("pareto:2"), HasSubstr("none of constant, exponential"));
  EXPECT_THAT(error(""), HasSubstr("none of"));
  for (const std::string text : {"gamma:3+constant", "kept:0.5+kept:0.5",
                                 "random_phase+constant+spread_phase"}) {
    EXPECT_THAT(error(text), HasSubstr("replaces an earlier piece")) << text;
  }
  EXPECT_EQ(error("sine:1m:0.5+sine:1s:0.1"), "");
}

}  // namespace
}  // namespace distbench::test_builder
