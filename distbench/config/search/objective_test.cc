#include "distbench/config/search/objective.h"

#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
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
  EXPECT_EQ(std::get<Metric>(objective.metric),
            (Metric{Metric::Kind::kPercentile, 95}));
  EXPECT_TRUE(objective.is_upper_limit);
  EXPECT_EQ(objective.limit, 500e6);
}

TEST(ParseObjectiveTest, ReadsSharesRatesAndBlanks) {
  EXPECT_DOUBLE_EQ(Parse("failures <= 0.1%").limit, 0.001);
  EXPECT_EQ(Parse("failures <= 0.1%").rpc, "");
  const Objective rate = Parse("query rate >= 1000");
  EXPECT_FALSE(rate.is_upper_limit);
  EXPECT_EQ(rate.limit, 1000);
  EXPECT_TRUE(std::holds_alternative<HostCpu>(Parse("cpu<=60%").metric));
}

TEST(ParseObjectiveTest, SaysWhatIsWrongAndWhatIsRight) {
  for (const std::string text :
       {"", "p95", "p95=5ms", "p95<=", "p95<=5", "p95<=0s", "p95<=-1s",
        "p95<=inf", "q95<=5ms", "cpu<=60", "query cpu<=60%", "rate>=fast",
        "p100<=1s", "failures<=1"}) {
    const absl::StatusOr<Objective> objective = ParseObjective(text);
    ASSERT_FALSE(objective.ok()) << text;
    EXPECT_EQ(objective.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(objective.status().message()),
                HasSubstr("my_rpc p95<=500ms"));
  }
}

}  // namespace
}  // namespace distbench
