#include "test_builder/building/test_list.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::test_builder {
namespace {

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
