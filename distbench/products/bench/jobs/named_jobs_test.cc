// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/jobs/named_jobs.h"

#include <random>

#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

constexpr char kJobs[] = R"(
- name: fixed
  description: >
    At a fixed
    rate
  vars:
    - qps=100
    - nodes
  args:
    - 'run:infile={dir}/a.config,slo="q p99<={qps}ms"'
    - 'run:id={{x}},infile={nodes}'
- name: plain
  args: [iocost-params]
)";

std::string ErrorOf(const std::string& yaml) {
  return base::Message(ParseNamedJobs(yaml, "jobs.yaml").status());
}

NamedJob Fixed() { return *FindNamedJob(*ParseNamedJobs(kJobs, "x"), "fixed"); }

using Values = std::map<std::string, std::string>;

std::string ArgsError(const NamedJob& job, const Values& values) {
  return base::Message(ArgsOf(job, values, "w").status());
}

TEST(NamedJobsTest, VariablesAreReplacedByValuesAndDefaults) {
  const auto args = ArgsOf(Fixed(), {{"nodes", "3"}}, "work");
  ASSERT_TRUE(args.ok()) << args.status();
  EXPECT_THAT(*args,
              ElementsAre(R"(run:infile=work/a.config,slo="q p99<=100ms")",
                          "run:id={x},infile=3"));
  const auto faster = ArgsOf(Fixed(), {{"nodes", "3"}, {"qps", "7"}}, "work");
  ASSERT_TRUE(faster.ok()) << faster.status();
  EXPECT_THAT((*faster)[0], HasSubstr("p99<=7ms"));
  EXPECT_EQ(Fixed().description, "At a fixed rate\n");
}

TEST(NamedJobsTest, AValueOfAnUnknownVariableIsAnError) {
  EXPECT_THAT(ArgsError(Fixed(), {{"nodes", "3"}, {"qp", "7"}}),
              AllOf(HasSubstr("has no variable \"qp\""),
                    HasSubstr("did you mean \"qps\"?")));
}

TEST(NamedJobsTest, AVariableWithoutADefaultNeedsAValue) {
  EXPECT_THAT(ArgsError(Fixed(), {}), HasSubstr("needs a value of nodes"));
}

TEST(NamedJobsTest, ArgsMayUseOnlyTheirVariables) {
  NamedJob job = {"x", "", {{"qps", "1"}}, {"run:a={qpss}"}};
  EXPECT_THAT(ArgsError(job, {}), HasSubstr("did you mean \"qps\"?"));
  job.args = {"run:a={qps"};
  EXPECT_THAT(ArgsError(job, {}), HasSubstr("stray brace"));
  job.args = {"run:a=}"};
  EXPECT_THAT(ArgsError(job, {}), HasSubstr("stray brace"));
}

TEST(NamedJobsTest, AnUnknownNameIsSuggested) {
  const auto jobs = ParseNamedJobs(kJobs, "x");
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  EXPECT_THAT(base::Message(FindNamedJob(*jobs, "fixd").status()),
              HasSubstr("did you mean \"fixed\"?"));
}

TEST(NamedJobsTest, TheListSaysWhatCanBeGiven) {
  EXPECT_EQ(NamedJobsText(*ParseNamedJobs(kJobs, "x")),
            "fixed\n    At a fixed rate\n    qps=100\n"
            "    nodes (must be given)\nplain\n");
}

TEST(NamedJobsTest, ErrorsOfTheFileNameItsLine) {
  EXPECT_THAT(ErrorOf("a: b"), HasSubstr("expected a list of jobs"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("expected a list of jobs"));
  EXPECT_THAT(ErrorOf("- name: x\n  arg: [y]"),
              AllOf(StartsWith("jobs.yaml:2:3: "),
                    HasSubstr("did you mean \"args\"?")));
  EXPECT_THAT(ErrorOf("- args: [y]"), HasSubstr("has no name"));
  EXPECT_THAT(ErrorOf("- name: x\n  args: [y]\n  args: [z]"),
              AllOf(StartsWith("jobs.yaml:3:3: "),
                    HasSubstr("the job has args twice")));
  EXPECT_THAT(ErrorOf("- name: x"), HasSubstr("has no args"));
  EXPECT_THAT(ErrorOf("- {name: x, args: y}"), HasSubstr("list of texts"));
  EXPECT_THAT(ErrorOf("- {name: [x], args: [y]}"), HasSubstr("must be a text"));
  EXPECT_THAT(ErrorOf("- {name: x, args: [y], vars: [a-b=1]}"),
              HasSubstr("is not a variable"));
  EXPECT_THAT(ErrorOf("- {name: x, args: [y], vars: [dir=1]}"),
              HasSubstr("other than dir"));
  EXPECT_THAT(ErrorOf("- {name: x, args: [y], vars: [a=1, a]}"),
              HasSubstr("twice"));
  EXPECT_THAT(ErrorOf("- {name: x, args: [y]}\n- {name: x, args: [y]}"),
              HasSubstr("two jobs \"x\""));
  EXPECT_THAT(ErrorOf("- {name: x"), StartsWith("jobs.yaml:"));
}

TEST(VariableValuesTest, TextsNumbersAndFlagsAreValues) {
  const auto values =
      ParseVariableValues(R"({"a": "x y", "b": 100, "c": 0.5, "d": true})");
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_THAT(*values, ElementsAre(Pair("a", "x y"), Pair("b", "100"),
                                   Pair("c", "0.5"), Pair("d", "true")));
  EXPECT_THAT(*ParseVariableValues(""), ElementsAre());
}

TEST(VariableValuesTest, OtherJsonIsAnError) {
  for (const char* json : {"[1]", "{", "x", "{\"a\": null}", "{\"a\": [1]}"}) {
    EXPECT_FALSE(ParseVariableValues(json).ok()) << json;
  }
}

// Whatever the file says, the answer is jobs or an error.
TEST(NamedJobsTest, NoTextCrashesTheParser) {
  std::mt19937 random(3);
  const std::vector<std::string> pieces = {
      "- ",   "name", ": ", "args", "vars", "[", "]", "{", "}",
      "\n  ", "\n- ", "x",  "a=1",  "\"",   "&", "*", "!", ","};
  for (int round = 0; round < 20000; ++round) {
    std::string yaml;
    for (int i = random() % 14; i > 0; --i) {
      yaml += pieces[random() % pieces.size()];
    }
    const auto jobs = ParseNamedJobs(yaml, "x");
    if (!jobs.ok()) continue;
    for (const NamedJob& job : *jobs) {
      EXPECT_FALSE(job.name.empty());
      EXPECT_FALSE(job.args.empty());
    }
  }
}

}  // namespace
}  // namespace distbench::bench
