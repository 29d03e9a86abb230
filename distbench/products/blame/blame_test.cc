#include "distbench/products/blame/blame.h"

#include <optional>
#include <string>
#include <vector>

#include "distbench/products/blame/blame_text.h"
#include "distbench/products/blame/testing/simulated_requests.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::blame {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// The handler of leaf/3 takes 3 ms longer in one of twenty requests.
TracedRequests WithSlowLeaf(int requests) {
  return Simulate({.requests = requests,
                   .trouble = {.rpc = kLookup,
                               .instance = 3,
                               .probability = 0.05,
                               .extra_ns = 3'000'000}});
}

std::string TextOf(const TestResult& result) {
  const auto results = report::Sourced({result});
  return BlameText(report::ListRuns(results));
}

TEST(BlameTest, ASlowLeafIsNamed) {
  const std::optional<TestBlame> blame =
      FindBlame(ResultOf(WithSlowLeaf(2'000)));
  ASSERT_TRUE(blame.has_value());
  ASSERT_THAT(blame->requests, SizeIs(1));
  const std::vector<std::string>& sentences = blame->requests[0].sentences;
  EXPECT_THAT(sentences[0],
              HasSubstr("of the difference is the handler of lookup."));
  EXPECT_THAT(sentences[1], StartsWith("leaf/3 is a straggler: "));
  EXPECT_THAT(sentences,
              Contains(StartsWith("If leaf/3 answered lookup as fast as the "
                                  "other instances, p99 would be ")));
  EXPECT_THAT(sentences.back(),
              StartsWith("p99.9: too few traces. It needs 15000 complete ones, "
                         "and there are 2000."));
}

TEST(BlameTest, WithoutATailNobodyIsNamed) {
  const RequestBlame blame = BlameFor(Simulate({}));
  EXPECT_THAT(blame.sentences[0],
              HasSubstr("No single part is shown to make up most"));
  EXPECT_THAT(blame.sentences, Not(Contains(HasSubstr("straggler"))));
  for (const WhatIf& what_if : blame.what_ifs->helpful) {
    EXPECT_EQ(what_if.remedy.instance, -1);
  }
}

TEST(BlameTest, FewTracesAreSaidToBeTooFew) {
  const RequestBlame blame = BlameFor(WithSlowLeaf(100));
  EXPECT_FALSE(blame.what_ifs.has_value());
  EXPECT_THAT(blame.sentences, Contains(StartsWith("p50: too few traces.")));
  EXPECT_THAT(blame.sentences, Contains(StartsWith("p99: too few traces.")));
}

TEST(BlameTest, WithoutTracesThereIsNoBlame) {
  TestResult result;
  EXPECT_FALSE(FindBlame(result).has_value());
  EXPECT_THAT(TextOf(result), HasSubstr("tracing_interval"));
}

TEST(BlameTest, RequestsThatWereAllIncompleteAreCounted) {
  TestResult result = ResultOf(WithSlowLeaf(3));
  for (auto& [name, log] :
       *result.mutable_service_logs()->mutable_instance_logs()) {
    for (auto& [peer, peer_log] : *log.mutable_peer_logs()) {
      for (auto& [rpc, rpc_log] : *peer_log.mutable_rpc_logs()) {
        if (peer == "leaf/0") rpc_log.clear_successful_rpc_samples();
      }
    }
  }
  const std::string text = TextOf(result);
  EXPECT_THAT(text, HasSubstr("  0 complete traces of 3 RPCs that succeeded; "
                              "left out: 3 incomplete\n"));
}

TEST(BlameTextTest, HasAllSections) {
  const std::string text = TextOf(ResultOf(WithSlowLeaf(2'000)));
  for (const char* line :
       {"Blame: query, service time\n",
        "  2000 complete traces of 2000 RPCs that succeeded\n",
        "\n  around p99: 40 traces, mean ",
        "\n  - leaf/3 is a straggler: ", "\n  lookup server_handler ",
        "\n  lookup server_handler leaf/3 ", "\n  lookup leaf/3  "}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("moved")));
}

TEST(BlameTextTest, ClocksThatDifferAreMentioned) {
  EXPECT_THAT(
      TextOf(ResultOf(WithSlowLeaf(50), /*skew_ns=*/1'000'000'000)),
      HasSubstr("500 of 600 RPCs were moved into the time of the RPC that "
                "caused them"));
}

}  // namespace
}  // namespace distbench::blame
