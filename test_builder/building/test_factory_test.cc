// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/building/test_factory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/building/test_list.h"

namespace distbench::test_builder {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class BuildTestTest : public testing::Test {
 protected:
  DistributedSystemDescription Build(const ValueMap& settings) {
    const auto test = TryBuild(settings);
    EXPECT_TRUE(test.ok()) << test.status();
    return test.value_or(DistributedSystemDescription());
  }

  std::string ErrorOf(const ValueMap& settings) {
    return std::string(TryBuild(settings).status().message());
  }

  absl::StatusOr<DistributedSystemDescription> TryBuild(ValueMap settings) {
    settings.emplace("traffic_pattern", "clique");
    request_.settings = settings;
    return BuildTest(request_, notes_);
  }

  TestRequest request_;
  Notes notes_;
};

TEST_F(BuildTestTest, NamesTheTestByTrafficAndProtocol) {
  const auto test = Build({{"ip_version", "6"}});
  EXPECT_EQ(test.name(),
            "clique_sync_burst_10x16000x1024x1024-grpc_polling_inline_ipv6");
  EXPECT_EQ(test.attributes().at("test_name"), test.name());
  EXPECT_EQ(test.attributes().at("ip_version_string"), "ipv6");
  EXPECT_EQ(test.protocol_driver_options(0).ip_version(), 6);
  EXPECT_EQ(test.protocol_driver_options(0).name(),
            "default_protocol_driver_options");
  EXPECT_EQ(test.protocol_driver_options(0).protocol_name(), "grpc");
}

TEST_F(BuildTestTest, BuildsForDriversThatAreNotBuiltIn) {
  const auto test = Build({{"protocol_driver", "homa"}});
  EXPECT_EQ(test.protocol_driver_options(0).protocol_name(), "homa");
  EXPECT_EQ(test.attributes().at("nocopy"), "1");
}

TEST_F(BuildTestTest, KeepsWhereTheTestCameFrom) {
  request_.config_label = "label";
  request_.swept_parameters = "a,b";
  const auto test = Build({});
  EXPECT_EQ(test.attributes().at("config_label"), "label");
  EXPECT_EQ(test.attributes().at("swept_parameter"), "a,b");
}

TEST_F(BuildTestTest, ArrivalsReplaceTheSynchronizationMode) {
  const auto test = Build({{"arrivals", "gamma:3+on_off:1s:4s"}});
  EXPECT_EQ(test.name(),
            "clique_gamma_3+on_off_1s_4s_10x16000x1024x1024-"
            "grpc_polling_inline");
  const Iterations& iterations = test.actions(0).iterations();
  EXPECT_FALSE(iterations.has_open_loop_interval_distribution());
  EXPECT_EQ(iterations.arrivals().coefficient_of_variation(), 3);
  EXPECT_EQ(iterations.arrivals().modulations(0).on_off().off(), "4s");
  EXPECT_EQ(test.attributes().at("arrivals"), "gamma:3+on_off:1s:4s");
}

TEST_F(BuildTestTest, ArrivalsNeedAnOpenLoop) {
  EXPECT_THAT(
      ErrorOf({{"arrivals", "gamma:3"}, {"traffic_pattern", "client_server"}}),
      HasSubstr("arrivals: this pattern has no open loop"));
  EXPECT_THAT(ErrorOf({{"arrivals", "gamma"}}),
              HasSubstr("arrivals=gamma: must be pieces"));
  EXPECT_THAT(
      ErrorOf({{"arrivals", "gamma:3"}, {"synchronization_mode", "constant"}}),
      HasSubstr("exclude each other"));
}

TEST_F(BuildTestTest, TimeoutFollowsTheDuration) {
  EXPECT_EQ(Build({{"test_duration", "5"}}).attributes().at("test_timeout"),
            "125");
  EXPECT_EQ(Build({{"test_duration", "0.5"}}).attributes().at("test_timeout"),
            "121");
  EXPECT_EQ(Build({{"test_timeout", "77"}}).attributes().at("test_timeout"),
            "77");
}

TEST_F(BuildTestTest, TellsHowLongTheTrafficLasts) {
  EXPECT_EQ(TrafficSeconds(Build({{"test_duration", "2.5"}})), 2.5);
  EXPECT_EQ(TrafficSeconds(DistributedSystemDescription()), 0);
}

TEST_F(BuildTestTest, UnknownNamesBecomeAttributesWithANote) {
  const auto test = Build({{"rack", "b7"}, {"leaf_count", "3"}});
  EXPECT_THAT(test.attributes(), Contains(Pair("rack", "b7")));
  EXPECT_THAT(
      notes_.all(),
      ElementsAre(
          HasSubstr("leaf_count is not a parameter of clique or grpc (but "
                    "of multi_level_rpc, "
                    "variable_response_multi_level_rpc, "
                    "feed_aggregator); it becomes an attribute"),
          HasSubstr("rack is not a parameter of clique or grpc; it")));
}

TEST_F(BuildTestTest, ATypingErrorIsAnError) {
  EXPECT_EQ(ErrorOf({{"node_cuont", "5"}, {"serve_type", "inline"}}),
            "node_cuont: not a parameter of clique or grpc; did you mean "
            "node_count? --allow_extra accepts it as an attribute\n"
            "serve_type: not a parameter of clique or grpc; did you mean "
            "server_type? --allow_extra accepts it as an attribute");
}

TEST_F(BuildTestTest, ATypingErrorCanBeInsistedOn) {
  request_.allow_extra = true;
  const auto test = Build({{"node_cuont", "5"}});
  EXPECT_EQ(test.attributes().at("node_cuont"), "5");
  EXPECT_EQ(test.attributes().at("node_count"), "10");
}

TEST_F(BuildTestTest, DerivedValuesCanNotBeSet) {
  EXPECT_THAT(ErrorOf({{"test_name", "mine"}}), HasSubstr("cannot be set"));
}

TEST_F(BuildTestTest, AddsExtraContents) {
  const auto test = Build(
      {{"extra_test_contents",
        "overload_limits { max_threads: 5 }  # few\nservices { name: 'x' }"}});
  EXPECT_EQ(test.overload_limits().max_threads(), 5);
  ASSERT_EQ(test.services_size(), 2);
  EXPECT_EQ(test.services(1).name(), "x");
  EXPECT_EQ(test.attributes().count("extra_test_contents"), 0);
  EXPECT_THAT(notes_.all(), IsEmpty());
}

TEST_F(BuildTestTest, ExplainsWrongExtraContents) {
  EXPECT_THAT(ErrorOf({{"extra_test_contents", "services {}\nservces {}"}}),
              HasSubstr("extra_test_contents:2:"));
  EXPECT_THAT(ErrorOf({{"extra_test_contents", "} tests {"}}),
              HasSubstr("braces must be balanced"));
}

TEST_F(BuildTestTest, ListsEveryWrongValue) {
  EXPECT_THAT(ErrorOf({{"node_count", "1"}, {"server_type", "fast"}}),
              HasSubstr("node_count=1: must be integer, 2 to 100000\n"
                        "server_type=fast: must be one of"));
}

std::vector<DistributedSystemDescription> MakeTests(
    std::vector<std::string> configs, const std::string& duration = "30") {
  Notes notes;
  return *BuildTests({.configs = std::move(configs), .duration = duration},
                     notes);
}

// Those of collectives need their product, which tests them.
TEST(CheckTestsTest, EveryPatternPasses) {
  Notes notes;
  const absl::Status status = CheckTests(
      MakeTests({"client_server", "clique", "rectangular", "tripartite",
                 "stochastic", "multi_level_rpc",
                 "variable_response_multi_level_rpc", "feed_aggregator",
                 "storage_service", "inference", "streaming", "homa_cp_node"}),
      notes);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(notes.all(), IsEmpty());
}

TEST(CheckTestsTest, EveryDirectionOfStreamsPasses) {
  Notes notes;
  const absl::Status status = CheckTests(
      MakeTests({"streaming:direction=server,client,echo:interval_us=0,1000",
                 "streaming:grpc_stream"}),
      notes);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(notes.all(), IsEmpty());
}

TEST(CheckTestsTest, DriversThatDoNotStreamAreNamed) {
  Notes notes;
  EXPECT_THAT(
      std::string(CheckTests(MakeTests({"streaming:tcp"}), notes).message()),
      HasSubstr("driver \"tcp\" of service \"server\" does not "
                "stream"));
}

TEST(CheckTestsTest, EveryPresetOfAFeedPasses) {
  Notes notes;
  const absl::Status status = CheckTests(
      MakeTests({"feed_aggregator:preset=small",
                 "feed_aggregator:preset=small:stories=1:rank_nodes=1",
                 "feed_aggregator:preset=feedsim_v1:leaf_count=1:qps=10",
                 "feed_aggregator:preset=feedsim_v2:qps=10"}),
      notes);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(notes.all(), IsEmpty());
}

TEST(CheckTestsTest, NamesTheTestThatCanNotRun) {
  Notes notes;
  const std::string problems(
      CheckTests(MakeTests({"clique", "clique:homa"}), notes).message());
  EXPECT_THAT(problems, HasSubstr("clique_sync_burst_10x16000x1024x1024-"
                                  "homa_nocopy_1x1x0: protocol_driver"));
  EXPECT_THAT(problems, HasSubstr("homa"));
}

TEST(CheckTestsTest, NotesAWarmUpAsLongAsTheTest) {
  Notes notes;
  EXPECT_TRUE(CheckTests(MakeTests({"clique", "multi_level_rpc",
                                    "feed_aggregator", "client_server"},
                                   "2.5"),
                         notes)
                  .ok());
  EXPECT_THAT(notes.all(),
              ElementsAre(HasSubstr("warm-up takes 2.992 s of 2.5 s"),
                          HasSubstr("warm-up takes 3 s of 2.5 s"),
                          HasSubstr("warm-up takes 3 s of 2.5 s")));
}

TEST(CheckTestsTest, NotesAWarmUpThatLeavesLittleToMeasure) {
  const auto notes_of = [](const std::string& seconds) {
    Notes notes;
    EXPECT_TRUE(
        CheckTests(MakeTests({"multi_level_rpc", "client_server"}, seconds),
                   notes)
            .ok());
    return notes.all();
  };
  EXPECT_THAT(notes_of("4.5"),
              ElementsAre(HasSubstr("only 1.5 s are measured, as the warm-up "
                                    "takes 3 s of 4.5 s; make the test longer "
                                    "with -t")));
  EXPECT_THAT(notes_of("5"), IsEmpty());
}

TEST(CheckTestsTest, DoesNotListProblemsWithoutEnd) {
  std::vector<std::string> configs;
  for (int i = 2; i < 50; ++i) {
    configs.push_back("clique:homa:node_count=" + std::to_string(i));
  }
  Notes notes;
  EXPECT_THAT(std::string(CheckTests(MakeTests(configs), notes).message()),
              HasSubstr("more problems"));
}

}  // namespace
}  // namespace distbench::test_builder
