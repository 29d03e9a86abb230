// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/building/test_list.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::test_builder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Values(absl::string_view start, absl::string_view step,
                                absl::string_view end) {
  const auto sweep = MakeSweep("qps", start, step, end);
  EXPECT_TRUE(sweep.ok()) << sweep.status();
  return sweep.ok() ? sweep->values : std::vector<std::string>();
}

std::string ErrorOf(absl::string_view name, absl::string_view start,
                    absl::string_view step, absl::string_view end) {
  return std::string(MakeSweep(name, start, step, end).status().message());
}

TEST(MakeSweepTest, AddsStepsUpToTheEnd) {
  EXPECT_THAT(Values("4000", "1000", "8000"),
              ElementsAre("4000", "5000", "6000", "7000", "8000"));
  EXPECT_THAT(Values("1", "3", "9"), ElementsAre("1", "4", "7"));
  EXPECT_THAT(Values("5", "1", "5"), ElementsAre("5"));
}

TEST(MakeSweepTest, GoesDownByNegativeSteps) {
  EXPECT_THAT(Values("3", "-2", "-1"), ElementsAre("3", "1", "-1"));
}

TEST(MakeSweepTest, HasTheDecimalsOfStartAndStep) {
  EXPECT_THAT(Values("0.1", "0.1", "0.5"),
              ElementsAre("0.1", "0.2", "0.3", "0.4", "0.5"));
  EXPECT_THAT(Values("1", "0.25", "1.5"), ElementsAre("1.00", "1.25", "1.50"));
}

TEST(MakeSweepTest, Multiplies) {
  EXPECT_THAT(Values("100", "x2", "1600"),
              ElementsAre("100", "200", "400", "800", "1600"));
  EXPECT_THAT(Values("100", "x2", "1599"),
              ElementsAre("100", "200", "400", "800"));
  EXPECT_THAT(Values("64", "x0.5", "16"), ElementsAre("64", "32", "16"));
  EXPECT_THAT(Values("0.5", "x2", "2"), ElementsAre("0.5", "1.0", "2.0"));
}

TEST(MakeSweepTest, KeepsMultipliedValuesThatRoundToTheSameOnce) {
  EXPECT_THAT(Values("1", "x1.5", "10"), ElementsAre("1", "2", "3", "5", "8"));
}

TEST(MakeSweepTest, SplitsNames) {
  const auto sweep = MakeSweep("a,b", "1", "1", "2");
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  EXPECT_THAT(sweep->parameters, ElementsAre("a", "b"));
}

TEST(MakeSweepTest, SaysWhichPartIsWrong) {
  EXPECT_THAT(ErrorOf("a,", "1", "1", "2"), HasSubstr("NAME is \"a,\""));
  EXPECT_THAT(ErrorOf("a", "one", "1", "2"), HasSubstr("START is \"one\""));
  EXPECT_THAT(ErrorOf("a", "1", "1e3", "2"), HasSubstr("STEP is \"1e3\""));
  EXPECT_THAT(ErrorOf("a", "1", "1", ""), HasSubstr("END is \"\""));
  EXPECT_THAT(ErrorOf("a", "1", "xx", "2"), HasSubstr("the factor is \"x\""));
}

TEST(MakeSweepTest, RefusesSweepsThatLeadNowhere) {
  EXPECT_THAT(ErrorOf("a", "1", "0", "2"), HasSubstr("STEP is 0"));
  EXPECT_THAT(ErrorOf("a", "2", "1", "1"), HasSubstr("no value lies between"));
  EXPECT_THAT(ErrorOf("a", "1", "-1", "2"), HasSubstr("no value"));
  EXPECT_THAT(ErrorOf("a", "2", "x2", "1"), HasSubstr("no value"));
  EXPECT_THAT(ErrorOf("a", "1", "x1", "2"), HasSubstr("not 1"));
  EXPECT_THAT(ErrorOf("a", "0", "x2", "2"), HasSubstr("START above 0"));
  EXPECT_THAT(ErrorOf("a", "1", "x-2", "2"), HasSubstr("factor"));
}

TEST(MakeSweepTest, RefusesSweepsWithoutAnEnd) {
  EXPECT_THAT(ErrorOf("a", "0", "1", "1000000000"),
              HasSubstr("more than 10000 values"));
  EXPECT_THAT(ErrorOf("a", "1", "x1.0000001", "1000000000"),
              HasSubstr("more than 10000 steps"));
  EXPECT_THAT(ErrorOf("a", "1", "1", "99999999999999999999"), HasSubstr("END"));
}

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<DistributedSystemDescription> Build(
    const TestListRequest& request) {
  Notes notes;
  const auto tests = BuildTests(request, notes);
  EXPECT_TRUE(tests.ok()) << tests.status();
  return tests.value_or(std::vector<DistributedSystemDescription>());
}

std::vector<std::string> Attributes(
    const std::vector<DistributedSystemDescription>& tests,
    const std::string& name) {
  std::vector<std::string> values;
  for (const auto& test : tests) values.push_back(test.attributes().at(name));
  return values;
}

TEST(BuildTestsTest, PrefixesCountLess) {
  const auto tests = Build({.configs = {"clique", "clique:node_count=4"},
                            .prefix = "homa:node_count=3:",
                            .label = "label_"});
  EXPECT_THAT(Attributes(tests, "node_count"), ElementsAre("3", "4"));
  EXPECT_THAT(Attributes(tests, "protocol_driver"),
              ElementsAre("homa", "homa"));
  EXPECT_THAT(Attributes(tests, "config_label"),
              ElementsAre("label_clique", "label_clique:node_count=4"));
}

TEST(BuildTestsTest, APrefixMayNameThePattern) {
  const auto tests =
      Build({.configs = {"node_count=4", "node_count=5"}, .prefix = "clique:"});
  EXPECT_THAT(Attributes(tests, "node_count"), ElementsAre("4", "5"));
}

TEST(BuildTestsTest, ConfigsSayTheirDurationThemselves) {
  const auto tests = Build(
      {.configs = {"clique", "tripartite:test_duration=7"}, .duration = "5"});
  EXPECT_THAT(Attributes(tests, "test_duration"), ElementsAre("5", "7"));
}

TEST(BuildTestsTest, BracesMakeATestForEachDriver) {
  const auto tests =
      Build({.configs = {"client_server:{grpc,tcp}:parallel_queries=1,2"}});
  EXPECT_THAT(
      Attributes(tests, "test_name"),
      ElementsAre("client_server_1x1x1-grpc_polling_inline",
                  "client_server_1x1x2-grpc_polling_inline",
                  "client_server_1x1x1-tcp", "client_server_1x1x2-tcp"));
}

TEST(BuildTestsTest, SweepsMultiplyConfigsAndLists) {
  const auto tests =
      Build({.configs = {"clique:node_count=2,3", "clique:node_count=4"},
             .sweeps = {{{"rpc_interval_us"}, {"100", "200"}},
                        {{"request_size", "response_size"}, {"8", "9"}}}});
  ASSERT_THAT(tests, SizeIs(12));
  EXPECT_THAT(Attributes(tests, "rpc_interval_us"),
              ElementsAre("100", "100", "100", "100", "100", "100", "200",
                          "200", "200", "200", "200", "200"));
  EXPECT_THAT(
      Attributes(tests, "response_size"),
      ElementsAre("8", "8", "8", "9", "9", "9", "8", "8", "8", "9", "9", "9"));
  EXPECT_THAT(
      Attributes(tests, "node_count"),
      ElementsAre("2", "3", "4", "2", "3", "4", "2", "3", "4", "2", "3", "4"));
  EXPECT_EQ(tests[0].attributes().at("swept_parameter"),
            "rpc_interval_us,request_size,response_size,node_count");
  EXPECT_EQ(tests[2].attributes().at("swept_parameter"),
            "rpc_interval_us,request_size,response_size");
}

TEST(BuildTestsTest, ASweepCountsMoreThanAConfig) {
  const auto tests = Build({.configs = {"clique:node_count=9"},
                            .sweeps = {{{"node_count"}, {"2", "3"}}}});
  EXPECT_THAT(Attributes(tests, "node_count"), ElementsAre("2", "3"));
}

TEST(BuildTestsTest, SweepsOfWhatNamesDoNotTellAreAppended) {
  const auto tests = Build({.configs = {"rectangular"},
                            .sweeps = {{{"tracing_interval"}, {"1", "2"}}}});
  ASSERT_THAT(tests, SizeIs(2));
  EXPECT_EQ(tests[1].name(),
            "rectangular_ring_x_sync_burst_5x3x100000x1024x1024-"
            "grpc_polling_inline-tracing_interval_2");
}

TEST(BuildTestsTest, ListsTheProblemsOfAllConfigs) {
  Notes notes;
  const auto tests = BuildTests(
      {.configs = {"clique:node_cuont=5", "clicke", "tripartite:data_count=0"}},
      notes);
  const std::string error(tests.status().message());
  EXPECT_THAT(error,
              HasSubstr("clique:node_cuont=5: node_cuont: not a parameter "
                        "of clique or grpc; did you mean node_count?"));
  EXPECT_THAT(error, HasSubstr("\ntripartite:data_count=0: data_count=0: must "
                               "be integer"));
  EXPECT_THAT(error, HasSubstr("clicke: \"clicke\": neither"));
}

TEST(BuildTestsTest, AProblemOfASweepIsSaidOnce) {
  Notes notes;
  const auto tests = BuildTests({.configs = {"clique:node_cuont=5"},
                                 .sweeps = {{{"request_size"}, {"1", "2"}}}},
                                notes);
  EXPECT_EQ(std::string(tests.status().message()).find('\n'),
            std::string::npos);
}

TEST(BuildTestsTest, SweepsAParameterOnce) {
  Notes notes;
  EXPECT_EQ(BuildTests({.configs = {"clique"},
                        .sweeps = {{{"request_size"}, {"1"}},
                                   {{"a", "request_size"}, {"2"}}}},
                       notes)
                .status()
                .message(),
            "parameter_sweep: request_size is swept twice");
}

TEST(BuildTestsTest, RefusesTooManyTests) {
  Sweep sweep = {{"request_size"}, {}};
  for (int i = 0; i < 101; ++i) sweep.values.push_back(std::to_string(i));
  Sweep other = sweep;
  other.parameters = {"response_size"};
  Notes notes;
  EXPECT_THAT(
      std::string(
          BuildTests({.configs = {"clique"}, .sweeps = {sweep, other}}, notes)
              .status()
              .message()),
      HasSubstr("more than 10000 tests"));
}

TEST(BuildTestsTest, ASweepOverNoParameterIsRefused) {
  TestListRequest request = {.configs = {"client_server"},
                             .sweeps = {{{"nosuch"}, {"250", "500", "1000"}}}};
  Notes notes;
  const std::string error(BuildTests(request, notes).status().message());
  EXPECT_THAT(error,
              HasSubstr("client_server: parameter_sweep: nosuch: not a "
                        "parameter of client_server or grpc, so that the tests "
                        "would all be the same; the parameters are "));
  EXPECT_THAT(error, HasSubstr(", parallel_queries, "));
  EXPECT_EQ(error.find('\n'), std::string::npos);

  request.sweeps[0].parameters = {"paralel_queries"};
  EXPECT_THAT(std::string(BuildTests(request, notes).status().message()),
              HasSubstr("did you mean parallel_queries?"));
}

TEST(BuildTestsTest, ASweepOverAttributesCanBeInsistedOn) {
  EXPECT_THAT(Build({.configs = {"client_server"},
                     .sweeps = {{{"nosuch"}, {"250", "500"}}},
                     .allow_extra = true}),
              SizeIs(2));
  // These differ in more than an attribute, or there is only one.
  EXPECT_THAT(Build({.configs = {"client_server"},
                     .sweeps = {{{"rack", "parallel_queries"}, {"2", "5"}}}}),
              SizeIs(2));
  EXPECT_THAT(
      Build({.configs = {"client_server"}, .sweeps = {{{"rack"}, {"2"}}}}),
      SizeIs(1));
}

NamedTest MakeTest(const std::string& name, const ValueMap& varied,
                   const std::string& label = "label") {
  NamedTest named;
  named.test.set_name(name);
  (*named.test.mutable_attributes())["config_label"] = label;
  for (const auto& [parameter, value] : varied) {
    (*named.test.mutable_attributes())[parameter] = value;
  }
  named.varied = varied;
  return named;
}

std::vector<std::string> Names(
    const std::vector<DistributedSystemDescription>& tests) {
  std::vector<std::string> names;
  for (const auto& test : tests) names.push_back(test.name());
  return names;
}

TEST(GiveOwnNamesTest, LeavesOwnNamesAlone) {
  Notes notes;
  const auto tests = GiveOwnNames(
      {MakeTest("a", {{"x", "1"}}), MakeTest("b", {{"x", "2"}})}, notes);
  ASSERT_TRUE(tests.ok()) << tests.status();
  EXPECT_THAT(Names(*tests), ElementsAre("a", "b"));
  EXPECT_THAT(notes.all(), IsEmpty());
}

TEST(GiveOwnNamesTest, AppendsWhatTellsTestsApart) {
  Notes notes;
  const auto tests = GiveOwnNames({MakeTest("a", {{"x", "1"}, {"y", "5"}}),
                                   MakeTest("a", {{"x", "2"}, {"y", "5"}}),
                                   MakeTest("b", {{"x", "1"}, {"y", "5"}})},
                                  notes);
  ASSERT_TRUE(tests.ok()) << tests.status();
  EXPECT_THAT(Names(*tests), ElementsAre("a-x_1", "a-x_2", "b"));
  EXPECT_EQ((*tests)[0].attributes().at("test_name"), "a-x_1");
}

TEST(GiveOwnNamesTest, KeepsEqualTestsOnce) {
  Notes notes;
  const auto tests = GiveOwnNames(
      {MakeTest("a", {}, "clique"), MakeTest("a", {}, "clique:grpc")}, notes);
  ASSERT_TRUE(tests.ok()) << tests.status();
  EXPECT_THAT(Names(*tests), ElementsAre("a"));
  EXPECT_THAT(notes.all(),
              ElementsAre("clique:grpc makes the same test as clique; it is "
                          "kept once"));
}

TEST(GiveOwnNamesTest, ExplainsWhatItCanNotTellApart) {
  NamedTest first = MakeTest("a", {}, "clique:rack=1");
  NamedTest second = MakeTest("a", {}, "clique:rack=2");
  (*first.test.mutable_attributes())["rack"] = "1";
  (*second.test.mutable_attributes())["rack"] = "2";
  Notes notes;
  EXPECT_THAT(
      std::string(GiveOwnNames({first, second}, notes).status().message()),
      HasSubstr("clique:rack=1 and clique:rack=2: both tests would be named a, "
                "but they differ in rack"));
}

}  // namespace
}  // namespace distbench::test_builder
