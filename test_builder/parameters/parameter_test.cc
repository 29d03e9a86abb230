// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/parameters/parameter.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::test_builder {
namespace {

using ::testing::HasSubstr;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<Parameter> Declared() {
  return {
      ParameterFrom(R"pb(name: "count"
                         type: INTEGER
                         default_value: "10"
                         minimum: 2
                         maximum: 100)pb"),
      ParameterFrom(R"pb(name: "rate"
                         type: NUMBER
                         default_value: "1.5"
                         minimum: 0.5)pb"),
      ParameterFrom(R"pb(name: "mode"
                         type: CHOICE
                         default_value: "a"
                         choices: "a"
                         choices: "b")pb"),
      ParameterFrom(R"pb(name: "word" type: WORD)pb"),
      ParameterFrom(R"pb(name: "text")pb"),
      ParameterFrom(R"pb(name: "lower"
                         type: INTEGER
                         default_value: "1"
                         excluded_by: "exact")pb"),
      ParameterFrom(R"pb(name: "exact" type: INTEGER)pb"),
      ParameterFrom(R"pb(name: "of_mode" type: INTEGER needs: "mode")pb"),
      ParameterFrom(R"pb(name: "of_b" type: INTEGER needs: "mode=b")pb"),
  };
}

std::string ProblemOf(const std::string& name, const std::string& value) {
  const auto values = ParameterValues::Resolve(Declared(), {{name, value}});
  return std::string(values.status().message());
}

TEST(ParameterValuesTest, FillsInDefaults) {
  const auto values = ParameterValues::Resolve(Declared(), {});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(values->Integer("count"), 10);
  EXPECT_EQ(values->Number("rate"), 1.5);
  EXPECT_EQ(values->Text("mode"), "a");
  EXPECT_FALSE(values->Has("word"));
  EXPECT_EQ(values->Text("word"), "");
  EXPECT_THAT(values->all(),
              ElementsAre(Pair("count", "10"), Pair("lower", "1"),
                          Pair("mode", "a"), Pair("rate", "1.5")));
}

TEST(ParameterValuesTest, KeepsValuesAsTheyAreWritten) {
  const auto values = ParameterValues::Resolve(
      Declared(), {{"count", "007"}, {"rate", "2.50"}, {"unknown", "x"}});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(values->Text("count"), "007");
  EXPECT_EQ(values->Integer("count"), 7);
  EXPECT_EQ(values->Text("rate"), "2.50");
  EXPECT_FALSE(values->Has("unknown"));
}

TEST(ParameterValuesTest, TakesTheLimitsOfARange) {
  EXPECT_EQ(ProblemOf("count", "2"), "");
  EXPECT_EQ(ProblemOf("count", "100"), "");
  EXPECT_EQ(ProblemOf("count", "1"), "count=1: must be integer, 2 to 100");
  EXPECT_EQ(ProblemOf("count", "101"), "count=101: must be integer, 2 to 100");
  EXPECT_EQ(ProblemOf("rate", "0.4"), "rate=0.4: must be number, at least 0.5");
}

TEST(ParameterValuesTest, RejectsWhatIsNotOfTheType) {
  for (const char* text : {"", "ten", "1.5", "1e1", "+10", " 10", "10 ", "0x10",
                           "99999999999999999999"}) {
    EXPECT_THAT(ProblemOf("count", text), HasSubstr("integer")) << text;
  }
  for (const char* text : {"", "fast", "nan", "inf", "+2", " 2", "1,5"}) {
    EXPECT_THAT(ProblemOf("rate", text), HasSubstr("number")) << text;
  }
  for (const char* text : {"", "a b", "a/b", "a\nb"}) {
    EXPECT_THAT(ProblemOf("word", text), HasSubstr("word")) << text;
  }
  EXPECT_THAT(ProblemOf("mode", "c"), HasSubstr("one of a, b"));
}

TEST(ParameterValuesTest, ListsEveryProblem) {
  const auto values = ParameterValues::Resolve(
      Declared(), {{"count", "x"}, {"mode", "x"}, {"rate", "1"}});
  EXPECT_EQ(values.status().message(),
            "count=x: must be integer, 2 to 100\n"
            "mode=x: must be one of a, b");
}

TEST(ParameterValuesTest, AnExcludedParameterHasNoDefault) {
  const auto values = ParameterValues::Resolve(Declared(), {{"exact", "5"}});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_FALSE(values->Has("lower"));
  EXPECT_EQ(values->Integer("exact"), 5);
}

TEST(ParameterValuesTest, AnExcludedParameterMayNotBeGiven) {
  const auto values =
      ParameterValues::Resolve(Declared(), {{"exact", "5"}, {"lower", "1"}});
  EXPECT_EQ(values.status().message(),
            "lower and exact exclude each other; give one");
}

TEST(ParameterValuesTest, AParameterMayNeedAnother) {
  const auto problem = [](const ValueMap& given) {
    const auto values = ParameterValues::Resolve(Declared(), given);
    return std::string(values.status().message());
  };
  EXPECT_EQ(problem({{"of_mode", "1"}}),
            "of_mode has no effect with no mode; remove it, or add mode=a or "
            "b");
  EXPECT_EQ(problem({{"of_mode", "1"}, {"mode", "a"}}), "");
  EXPECT_EQ(problem({{"of_b", "1"}, {"mode", "a"}}),
            "of_b has no effect with mode=a; remove it, or add mode=b");
  EXPECT_EQ(problem({{"of_b", "1"}, {"mode", "b"}}), "");
}

Parameter NumberOf(Parameter::Unit unit) {
  Parameter parameter;
  parameter.set_type(Parameter::NUMBER);
  parameter.set_unit(unit);
  return parameter;
}

std::string Plain(Parameter::Unit unit, const std::string& text) {
  return PlainValue(NumberOf(unit), text);
}

TEST(PlainValueTest, ConvertsQuantitiesToTheUnitOfTheParameter) {
  EXPECT_EQ(Plain(Parameter::PER_SECOND, "1.5k/s"), "1500");
  EXPECT_EQ(Plain(Parameter::PER_SECOND, "6/min"), "0.1");
  EXPECT_EQ(Plain(Parameter::SECONDS, "500ms"), "0.5");
  EXPECT_EQ(Plain(Parameter::SECONDS, "1h30m"), "5400");
  EXPECT_EQ(Plain(Parameter::MICROSECONDS, "16ms"), "16000");
  EXPECT_EQ(Plain(Parameter::MICROSECONDS, "1500ns"), "1.5");
  EXPECT_EQ(Plain(Parameter::BYTES, "256KiB"), "262144");
  EXPECT_EQ(Plain(Parameter::BYTES, "8GB"), "8000000000");
}

TEST(PlainValueTest, ReturnsOtherTextAsItIs) {
  for (const char* text : {"", "007", "2.50", "-1s", "1e30s", "fast", "5x"}) {
    EXPECT_EQ(Plain(Parameter::SECONDS, text), text);
    EXPECT_EQ(Plain(Parameter::PER_SECOND, text), text);
    EXPECT_EQ(Plain(Parameter::BYTES, text), text);
  }
  EXPECT_EQ(Plain(Parameter::PER_SECOND, "5s"), "5s");
  EXPECT_EQ(PlainValue(NumberOf(Parameter::NO_UNIT), "5s"), "5s");
}

TEST(DescribeTypeTest, ShowsTheUnit) {
  Parameter parameter = ParameterFrom("type: INTEGER minimum: 2 maximum: 100");
  EXPECT_EQ(DescribeType(parameter), "integer, 2 to 100");
  parameter.set_unit(Parameter::BYTES);
  EXPECT_EQ(DescribeType(parameter),
            "integer, 2 to 100, or with a unit, such as 256KiB");
}

TEST(FillFormTest, FillsHolesAndKnowsThoseBetweenQuotes) {
  const auto value_of = [](absl::string_view name, bool is_quoted) {
    return absl::StrCat(is_quoted ? "text of " : "number of ", name);
  };
  EXPECT_EQ(FillForm("", value_of), "");
  EXPECT_EQ(FillForm(R"(a: "x" b: <b> c: "-<c>-" <d>)", value_of),
            R"(a: "x" b: number of b c: "-text of c-" number of d)");
  EXPECT_EQ(FillForm("<a b=<c> d>", value_of), "number of a b=<c> d");
}

TEST(FillFormTest, ValuesHaveNoHoles) {
  EXPECT_EQ(FillForm("<a>\"<b>\"",
                     [](absl::string_view, bool is_quoted) {
                       return std::string(is_quoted ? "<b>" : "\"<a>");
                     }),
            "\"<a>\"<b>\"");
}

TEST(FindByNameTest, FindsByName) {
  const std::vector<Parameter> declared = Declared();
  EXPECT_EQ(FindByName(declared, "rate"), &declared[1]);
  EXPECT_EQ(FindByName(declared, "ratE"), nullptr);
}

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
