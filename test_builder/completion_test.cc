#include "test_builder/completion.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/help.h"

namespace distbench::test_builder {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> Words(std::vector<std::string> words) {
  std::vector<std::string> found;
  for (const flags::Candidate& candidate :
       CompleteTestBuilder(std::move(words)).candidates) {
    found.push_back(candidate.word);
  }
  return found;
}

TEST(TestBuilderCompletionTest, Patterns) {
  EXPECT_THAT(Words({"cliq"}), ElementsAre("clique"));
  EXPECT_THAT(Words({"-t", "5", ""}),
              AllOf(Contains("client_server"), Contains("parameter_sweep")));
  EXPECT_THAT(Words({"clique", "trip"}), ElementsAre("tripartite"));
}

TEST(TestBuilderCompletionTest, Settings) {
  EXPECT_THAT(Words({"clique:node"}), ElementsAre("clique:node_count="));
  EXPECT_THAT(Words({"clique:node_count=3:test_d"}),
              ElementsAre("clique:node_count=3:test_duration="));
  EXPECT_THAT(Words({"clique:gr"}),
              ElementsAre("clique:grpc", "clique:grpc_stream"));
  EXPECT_THAT(Words({"clique:client_t"}), ElementsAre("clique:client_type="));
  EXPECT_THAT(Words({"clique:tcp:client_t"}), IsEmpty());
}

TEST(TestBuilderCompletionTest, Choices) {
  EXPECT_THAT(Words({"clique:synchronization_mode=sync_burst_"}),
              ElementsAre("clique:synchronization_mode=sync_burst_spread"));
  EXPECT_THAT(Words({"clique:node_count="}), IsEmpty());
}

TEST(TestBuilderCompletionTest, PrefixesAndSweeps) {
  EXPECT_THAT(Words({"-c", "ipv"}), ElementsAre("ipv4", "ipv6"));
  EXPECT_THAT(Words({"parameter_sweep", "node_c"}), ElementsAre("node_count"));
  EXPECT_THAT(Words({"--prefix=grpc:ipv4"}), ElementsAre("--prefix=grpc:ipv4"));
}

TEST(TestBuilderCompletionTest, Flags) {
  EXPECT_THAT(Words({"--dry"}), ElementsAre("--dry_run"));
  EXPECT_EQ(CompleteTestBuilder({"-o", ""}).paths,
            flags::Completion::Paths::kFolders);
}

TEST(TestBuilderManualTest, HasFlagsAndAllPatterns) {
  const std::string page = TestBuilderManPage("1.2.3");
  EXPECT_THAT(page, StartsWith(".TH \"TEST_BUILDER\" 1"));
  for (const char* part :
       {"\\-\\-duration", "clique: all", "node_count=10", ".SH PROTOCOLS",
        "test_timeout", "DISTBENCH_TLS_CA", "parameter_sweep qps"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

}  // namespace
}  // namespace distbench::test_builder
