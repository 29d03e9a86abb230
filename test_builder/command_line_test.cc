// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/command_line.h"

#include <optional>
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

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CommandLine Parse(const std::vector<std::string>& arguments) {
  const auto line = ParseCommandLine(arguments);
  EXPECT_TRUE(line.ok()) << line.status();
  return line.value_or(CommandLine());
}

std::string ErrorOf(const std::vector<std::string>& arguments) {
  return std::string(ParseCommandLine(arguments).status().message());
}

TEST(ParseCommandLineTest, HasDefaults) {
  const CommandLine line = Parse({"clique"});
  EXPECT_THAT(line.tests.configs, ElementsAre("clique"));
  EXPECT_EQ(line.output, "-");
  EXPECT_EQ(line.sequencer, "");
  EXPECT_EQ(line.tests.duration, "30");
  EXPECT_EQ(line.tests.prefix, "");
  EXPECT_FALSE(line.tests.allow_extra);
  EXPECT_FALSE(line.dry_run);
  EXPECT_FALSE(line.help);
}

TEST(ParseCommandLineTest, FlagsMayFollowArguments) {
  const std::vector<std::string> arguments = {
      "clique",       "-s",       "host:1",    "tripartite",
      "-o",           "out",      "-t",        "5",
      "-l",           "label_",   "-c",        "grpc",
      "-c",           "ipv4:a=b", "--dry_run", "--allow_extra",
      "client_server"};
  const CommandLine line = Parse(arguments);
  EXPECT_THAT(line.tests.configs,
              ElementsAre("clique", "tripartite", "client_server"));
  EXPECT_EQ(line.sequencer, "host:1");
  EXPECT_EQ(line.output, "out");
  EXPECT_EQ(line.tests.duration, "5");
  EXPECT_EQ(line.tests.label, "label_");
  EXPECT_EQ(line.tests.prefix, "grpc:ipv4:a=b:");
  EXPECT_TRUE(line.dry_run);
  EXPECT_TRUE(line.tests.allow_extra);
  EXPECT_EQ(line.arguments, arguments);
}

TEST(ParseCommandLineTest, RepeatedFlagsLeaveArgumentsAlone) {
  const CommandLine line =
      Parse({"-c", "grpc", "clique", "--slo=a p50<=1ms", "tripartite"});
  EXPECT_THAT(line.tests.configs, ElementsAre("clique", "tripartite"));
  EXPECT_EQ(line.tests.prefix, "grpc:");
  EXPECT_THAT(line.objectives, ElementsAre("a p50<=1ms"));
}

TEST(ParseCommandLineTest, TakesADashForStandardOutput) {
  EXPECT_EQ(Parse({"-o", "-", "clique"}).output, "-");
}

TEST(ParseCommandLineTest, TakesSweepsFromAnywhere) {
  const CommandLine line =
      Parse({"parameter_sweep", "a,b", "3", "-1", "1", "clique",
             "parameter_sweep", "c", "1", "x2", "4", "-t", "5"});
  ASSERT_EQ(line.tests.sweeps.size(), 2);
  EXPECT_THAT(line.tests.sweeps[0].parameters, ElementsAre("a", "b"));
  EXPECT_THAT(line.tests.sweeps[0].values, ElementsAre("3", "2", "1"));
  EXPECT_THAT(line.tests.sweeps[1].values, ElementsAre("1", "2", "4"));
  EXPECT_THAT(line.tests.configs, ElementsAre("clique"));
}

TEST(ParseCommandLineTest, Help) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"-h"}, {"--help"}, {"help"}}) {
    EXPECT_TRUE(Parse(arguments).help);
    EXPECT_EQ(Parse(arguments).help_topic, "");
  }
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"help", "clique"},
        {"clique", "--help"},
        {"--help", "clique:node_count=5"}}) {
    EXPECT_TRUE(Parse(arguments).help);
    EXPECT_EQ(Parse(arguments).help_topic, "clique");
  }
}

TEST(ParseCommandLineTest, ASequencerByDefaultRunsWhatHasADirectory) {
  const flags::Environment environment =
      [](const std::string& name) -> std::optional<std::string> {
    if (name == "DISTBENCH_TEST_SEQUENCER") return "host:1";
    if (name == "DISTBENCH_TLS_CA") return "ca.crt";
    return std::nullopt;
  };
  const auto run = ParseCommandLine({"clique", "-o", "dir"}, environment);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->sequencer, "host:1");
  EXPECT_EQ(run->tls.ca, "ca.crt");
  ASSERT_NE(run->explain, nullptr);
  EXPECT_EQ(run->explain("host:1 does not answer").size(), 2);

  const auto printed = ParseCommandLine({"clique"}, environment);
  ASSERT_TRUE(printed.ok()) << printed.status();
  EXPECT_EQ(printed->sequencer, "");
  EXPECT_TRUE(printed->tls.empty());
  EXPECT_EQ(printed->explain, nullptr);

  const auto written =
      ParseCommandLine({"clique", "-o", "dir", "-s", ""}, environment);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->sequencer, "");
}

TEST(ParseCommandLineTest, AsksForTheVersionAlone) {
  EXPECT_TRUE(Parse({"--version"}).version);
  EXPECT_FALSE(Parse({"clique"}).version);
}

TEST(ParseCommandLineTest, SaysWhatIsMissing) {
  EXPECT_THAT(ErrorOf({}), HasSubstr("no CONFIG"));
  EXPECT_THAT(ErrorOf({"-t", "5"}), HasSubstr("no CONFIG"));
  EXPECT_THAT(ErrorOf({"clique", "-s", "host:1"}), HasSubstr("-o DIR"));
  EXPECT_THAT(ErrorOf({"clique", "-s", "host:1", "-o", "-"}),
              HasSubstr("-o DIR"));
  EXPECT_THAT(ErrorOf({"clique", "-o"}), HasSubstr("-o"));
  EXPECT_THAT(ErrorOf({"clique", "-o", ""}), HasSubstr("is empty"));
  EXPECT_THAT(ErrorOf({"parameter_sweep", "a", "1", "2"}),
              HasSubstr("needs NAME START STEP END"));
}

TEST(ParseCommandLineTest, ExplainsWhatItDoesNotKnow) {
  EXPECT_THAT(ErrorOf({"clique", "--dryrun"}),
              HasSubstr("did you mean --dry_run?"));
  EXPECT_THAT(ErrorOf({"clique", "-x"}), HasSubstr("unknown flag -x"));
  EXPECT_THAT(ErrorOf({"clique", "-l", "a/b"}), HasSubstr("'/'"));
}

TEST(ParseCommandLineTest, AFlagIsNotTheValueOfAnother) {
  EXPECT_THAT(ErrorOf({"clique", "-o", "--quiet"}),
              HasSubstr("--output: its DIR is missing"));
}

TEST(GeneralHelpTest, NamesEveryFlag) {
  for (const char* flag :
       {"-o", "-s", "-t", "-c", "-l", "-h", "--allow_extra", "--dry_run"}) {
    EXPECT_THAT(GeneralHelp(), HasSubstr(flag));
  }
}

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
  // Those of the driver.
  EXPECT_THAT(
      Words({"clique:tcp:transport="}),
      ElementsAre("clique:tcp:transport=tcp", "clique:tcp:transport=unix"));
  EXPECT_THAT(Words({"clique:threadpool_type="}),
              Contains("clique:threadpool_type=elastic"));
  EXPECT_THAT(Words({"clique:double_barrel:next_protocol_driver=t"}),
              ElementsAre("clique:double_barrel:next_protocol_driver=tcp"));
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
