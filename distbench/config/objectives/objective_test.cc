// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/objectives/objective.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::HasSubstr;

Objective Parse(const std::string& text) {
  const absl::StatusOr<Objective> objective = ParseObjective(text);
  EXPECT_TRUE(objective.ok()) << objective.status();
  return objective.value_or(Objective());
}

TEST(ParseObjectiveTest, ReadsLatencies) {
  const Objective objective = Parse("root_query p95<=500ms");
  EXPECT_EQ(objective.rpc, "root_query");
  EXPECT_EQ(objective.metric,
            (stats::Metric{stats::Metric::Kind::kPercentile, 95}));
  EXPECT_TRUE(objective.is_upper_limit);
  EXPECT_EQ(objective.limit, 500e6);
}

TEST(ParseObjectiveTest, ALimitIsMetAlsoWithoutTheSignOfEquality) {
  EXPECT_TRUE(Parse("query p99<5ms").is_upper_limit);
  EXPECT_EQ(Parse("query p99<5ms").limit, 5e6);
  EXPECT_FALSE(Parse("query rate>1000").is_upper_limit);
}

TEST(ParseObjectiveTest, ReadsSharesRatesAndBlanks) {
  EXPECT_DOUBLE_EQ(Parse("failures <= 0.1%").limit, 0.001);
  EXPECT_EQ(Parse("failures <= 0.1%").rpc, "");
  const Objective rate = Parse("query rate >= 1000");
  EXPECT_FALSE(rate.is_upper_limit);
  EXPECT_EQ(rate.limit, 1000);
  EXPECT_EQ(Parse("cpu<=60%").metric, stats::Metric{stats::Metric::Kind::kCpu});
}

TEST(ParseObjectiveTest, ReadsIsolation) {
  const Objective goodput = Parse("isol_p05>=90%");
  EXPECT_FALSE(goodput.is_upper_limit);
  EXPECT_DOUBLE_EQ(goodput.limit, 0.9);
  EXPECT_EQ(goodput.metric,
            (stats::Metric{stats::Metric::Kind::kIsolation, 5}));
  const Objective impact = Parse("lat_imp_mean <= 120%");
  EXPECT_TRUE(impact.is_upper_limit);
  EXPECT_DOUBLE_EQ(impact.limit, 1.2);
  EXPECT_EQ(impact.metric, stats::Metric{stats::Metric::Kind::kLatencyImpact});
  EXPECT_EQ(stats::MetricName(impact.metric), "lat_imp_mean");
}

TEST(ParseObjectiveTest, ReadsTimesOfMessages) {
  for (const auto& [name, kind] :
       std::vector<std::pair<std::string, stats::Metric::Kind>>{
           {"first_message_p99", stats::Metric::Kind::kFirstMessage},
           {"gap_p99.9", stats::Metric::Kind::kGap},
           {"round_trip_p50", stats::Metric::Kind::kRoundTrip}}) {
    const Objective objective = Parse(absl::StrCat("talk ", name, "<=20ms"));
    EXPECT_EQ(objective.rpc, "talk");
    EXPECT_EQ(objective.limit, 20e6);
    EXPECT_EQ(objective.metric.kind, kind);
    EXPECT_EQ(stats::MetricName(objective.metric), name);
  }
  for (const char* text : {"gap_mean<=1ms", "gap_p0<=1ms", "gap_<=1ms"}) {
    EXPECT_THAT(ParseObjective(text).status().message(),
                HasSubstr("gap_ is followed by a percentile such as p99"));
  }
  EXPECT_THAT(ParseObjective("gap_p99<=1%").status().message(),
              HasSubstr("needs a duration"));
}

TEST(ParseObjectiveTest, ReadsAttempts) {
  EXPECT_EQ(Parse("get amplification<=1.2").metric,
            (stats::Metric{stats::Metric::Kind::kAmplification}));
  EXPECT_EQ(Parse("get amplification<=1.2").limit, 1.2);
  EXPECT_DOUBLE_EQ(Parse("wasted<=5%").limit, 0.05);
  EXPECT_EQ(Parse("goodput>=1000").limit, 1000);
  const Objective quorum = Parse("get quorum_p99.9<=20ms");
  EXPECT_EQ(quorum.limit, 20e6);
  EXPECT_EQ(stats::MetricName(quorum.metric), "quorum_p99.9");
  EXPECT_EQ(stats::MetricName(Parse("attempt_p50<=1s").metric), "attempt_p50");
  for (const auto& [text, problem] :
       std::vector<std::pair<std::string, std::string>>{
           {"amplification<=5%", "attempts per request"},
           {"wasted<=0.05", "in percent"},
           {"goodput>=5ms", "rate per second"},
           {"attempt_mean<=1ms", "attempt_ is followed by a percentile"},
           {"quorum_p99<=1%", "needs a duration"}}) {
    EXPECT_THAT(std::string(ParseObjective(text).status().message()),
                HasSubstr(problem));
  }
}

TEST(ParseObjectiveTest, SaysWhatIsNoMetricInASentence) {
  EXPECT_THAT(
      std::string(ParseObjective("get 95<=5ms").status().message()),
      HasSubstr("the objective \"get 95<=5ms\" has no metric: \"95\" is "
                "not a metric: "));
}

TEST(ParseObjectiveTest, SaysWhatIsWrongWithIsolation) {
  for (const auto& [text, problem] :
       std::vector<std::pair<std::string, std::string>>{
           {"isol_p05<=90%", "needs >="},
           {"lat_imp_p95>=20%", "needs <="},
           {"isol_p05>=101%", "more than 100%"},
           {"isol_p05>=0.9", "in percent"},
           {"isol_p0>=90%",
            "isol_ is followed by a percentile such as p99, or mean"},
           {"isol_p100>=90%",
            "isol_ is followed by a percentile such as p99, or mean"},
           {"isol_max>=90%",
            "isol_ is followed by a percentile such as p99, or mean"},
           {"query isol_p05>=90%", "names an RPC"}}) {
    const absl::StatusOr<Objective> objective = ParseObjective(text);
    ASSERT_FALSE(objective.ok()) << text;
    EXPECT_THAT(std::string(objective.status().message()), HasSubstr(problem));
  }
}

TEST(ParseObjectiveTest, SaysWhatIsWrongAndWhatIsRight) {
  for (const std::string text :
       {"", "p95", "p95=5ms", "p95<=", "p95<=5", "p95<=0s", "p95<=-1s",
        "p95<=inf", "q95<=5ms", "failures<=nan%", "failures<=inf%",
        "rate>=0x10", "cpu<=60", "query cpu<=60%", "rate>=fast", "p100<=1s",
        "failures<=1"}) {
    const absl::StatusOr<Objective> objective = ParseObjective(text);
    ASSERT_FALSE(objective.ok()) << text;
    EXPECT_EQ(objective.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(objective.status().message()),
                HasSubstr("my_rpc p95<=500ms"));
  }
}

}  // namespace
}  // namespace distbench::config
