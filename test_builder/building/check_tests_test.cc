#include "test_builder/building/check_tests.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/building/test_list.h"

namespace distbench::test_builder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<DistributedSystemDescription> MakeTests(
    std::vector<std::string> configs, const std::string& duration = "30") {
  Notes notes;
  return *BuildTests({.configs = std::move(configs), .duration = duration},
                     notes);
}

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
