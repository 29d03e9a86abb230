// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/blame/blame.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/products/blame/critical_path.h"
#include "distbench/products/blame/testing/accusations.h"
#include "distbench/products/blame/testing/simulated_requests.h"
#include "distbench/report/json/json.h"
#include "distbench/report/testing/example_result.h"
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
  const std::optional<ReportedBlame> blame =
      FindBlame(ResultOf(WithSlowLeaf(2'000)));
  ASSERT_TRUE(blame.has_value());
  ASSERT_THAT(blame->requests(), SizeIs(1));
  const auto& sentences = blame->requests(0).sentences();
  EXPECT_THAT(sentences[0],
              HasSubstr("of the difference is the handler of lookup."));
  EXPECT_THAT(sentences[1], StartsWith("leaf/3 is a straggler: "));
  EXPECT_THAT(sentences,
              Contains(StartsWith("If leaf/3 answered lookup as fast as the "
                                  "other instances, p99 would be ")));
  EXPECT_THAT(sentences[sentences.size() - 1],
              StartsWith("p99.9: too few traces. It needs 15000 complete ones, "
                         "and there are 2000."));
}

TEST(BlameTest, WithoutATailNobodyIsNamed) {
  const auto blame = BlameFor(Simulate({}));
  EXPECT_THAT(blame.sentences(0),
              HasSubstr("No single part is shown to make up most"));
  EXPECT_THAT(blame.sentences(), Not(Contains(HasSubstr("straggler"))));
  EXPECT_THAT(blame.what_ifs().remedies(), SizeIs(0));
}

TEST(BlameTest, FewTracesAreSaidToBeTooFew) {
  const auto blame = BlameFor(WithSlowLeaf(100));
  EXPECT_FALSE(blame.has_what_ifs());
  EXPECT_THAT(blame.sentences(), Contains(StartsWith("p50: too few traces.")));
  EXPECT_THAT(blame.sentences(), Contains(StartsWith("p99: too few traces.")));
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
        "\n  - leaf/3 is a straggler: ", "\n  lookup server_handler "}) {
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

using Json = nlohmann::json;

Json BlameOf(const TestResult& result) {
  const auto results = report::Sourced({result});
  return Json::parse(
      report::RenderJson(report::InputOf(results)))["tests"][0]["blame"];
}

TEST(JsonBlameTest, WithoutTracesItIsNull) {
  EXPECT_TRUE(BlameOf(report::MakeExampleResult({})).is_null());
}

TEST(JsonBlameTest, ASlowLeafIsNamed) {
  const Json blame =
      BlameOf(ResultOf(Simulate({.is_random = false,
                                 .trouble = {.rpc = kLookup,
                                             .instance = 3,
                                             .probability = 0.05,
                                             .extra_ns = 3'000'000}})));
  EXPECT_EQ(blame["rootless_count"], 0);
  ASSERT_EQ(blame["requests"].size(), 1);
  const Json& requests = blame["requests"][0];
  EXPECT_EQ(requests["rpc"], "query");
  EXPECT_EQ(requests["latency"], "service_time");
  EXPECT_EQ(requests["trace_count"], 2'000);
  EXPECT_EQ(requests["succeeded_count"], 2'000);
  EXPECT_EQ(requests["call_count"], 24'000);

  const Json& tail = requests["quantiles"][1];
  EXPECT_EQ(tail["percentile"], 99);
  EXPECT_EQ(tail["trace_count"], 40);
  const Json& largest = tail["shares"][0];
  EXPECT_EQ(largest["rpc"], "lookup");
  EXPECT_EQ(largest["part"], "server_handler");
  EXPECT_NEAR(largest["share"].get<double>(), 3.1 / 3.9, 1e-9);
  EXPECT_NEAR(largest["excess_lower"].get<double>(), 1, 1e-9);
  EXPECT_TRUE(requests["quantiles"][0]["shares"][0]["excess"].is_null());

  // There is no p99.9.
  EXPECT_EQ(requests["quantiles"][2]["trace_count"], 0);
  EXPECT_EQ(requests["quantiles"][2]["needed_count"], 15'000);
  EXPECT_TRUE(requests["quantiles"][2]["mean_ns"].is_null());

  const Json& straggler = requests["stragglers"][0];
  EXPECT_EQ(straggler["instance"], "leaf/3");
  EXPECT_EQ(straggler["is_to_blame"], true);
  EXPECT_EQ(straggler["tail"]["last_count"], 40);
  // Elsewhere all leaves end together, so nobody is last.
  EXPECT_EQ(straggler["all"]["last_count"], straggler["all"]["fanout_count"]);

  EXPECT_EQ(requests["what_ifs"]["p99_ns"], 3'900'000);
  const Json& remedy = requests["what_ifs"]["remedies"][0];
  EXPECT_EQ(remedy["instance"], "leaf/3");
  EXPECT_EQ(remedy["p99_ns"], 900'000);
}

TEST(JsonBlameTest, TooFewTracesHaveNoWhatIfs) {
  const Json blame = BlameOf(ResultOf(Simulate({.requests = 100})));
  EXPECT_TRUE(blame["requests"][0]["what_ifs"].is_null());
}

}  // namespace

// How often the analysis finds what makes simulated requests slow, and how
// often it accuses the innocent.

namespace {

constexpr int kSystems = 200;
constexpr int kFewestFound = kSystems * 95 / 100;
constexpr int kMostFalse = kSystems * 5 / 100;

// One in twenty requests takes 2 ms longer than its usual 1.2 ms.
constexpr int64_t kExtraNs = 2'000'000;
constexpr double kProbability = 0.05;

// Whom an analysis accuses.
struct Accused {
  std::string stragglers;  // each followed by a space
  std::string main_cause;  // "RPC.part"
};

Accused Accuse(const TracedRequests& requests) {
  const auto blame = BlameFor(requests);
  Accused accused;
  for (const ReportedBlame::Straggler& straggler : blame.stragglers()) {
    if (!straggler.is_to_blame()) continue;
    absl::StrAppend(&accused.stragglers, straggler.instance(), " ");
  }
  if (const auto* cause = MainCause(blame.quantiles(kTail))) {
    accused.main_cause = absl::StrCat(cause->rpc(), ".", cause->part());
  }
  return accused;
}

// In how many systems that differ only in their seed the accusations are like
// this.
int CountSystems(const Trouble& trouble,
                 const std::function<bool(const Accused&)>& is_so) {
  int count = 0;
  for (int seed = 1; seed <= kSystems; ++seed) {
    count += is_so(Accuse(
        Simulate({.trouble = trouble, .seed = static_cast<uint64_t>(seed)})));
  }
  return count;
}

TEST(BlameSimulationTest, ASlowLeafIsFound) {
  const int found =
      CountSystems({.rpc = kLookup,
                    .instance = 3,
                    .probability = kProbability,
                    .extra_ns = kExtraNs},
                   [](const Accused& accused) {
                     return accused.stragglers == "leaf/3 " &&
                            accused.main_cause == "lookup.server_handler";
                   });
  EXPECT_GE(found, kFewestFound);
}

TEST(BlameSimulationTest, ALeafThatIsAlwaysSlowIsFound) {
  const int found = CountSystems(
      {.rpc = kLookup, .instance = 3, .probability = 1, .extra_ns = 300'000},
      [](const Accused& accused) { return accused.stragglers == "leaf/3 "; });
  EXPECT_GE(found, kFewestFound);
}

TEST(BlameSimulationTest, ASlowServerQueueIsFound) {
  const int found =
      CountSystems({.rpc = kRank,
                    .part = BlamePart::kServerQueue,
                    .probability = kProbability,
                    .extra_ns = kExtraNs},
                   [](const Accused& accused) {
                     return accused.main_cause == "rank.server_queue" &&
                            accused.stragglers.empty();
                   });
  EXPECT_GE(found, kFewestFound);
}

// Of any leaf, so that no instance is to blame.
TEST(BlameSimulationTest, ASlowNetworkIsFound) {
  const int found =
      CountSystems({.rpc = kLookup,
                    .part = BlamePart::kNetwork,
                    .probability = kProbability / 10,
                    .extra_ns = kExtraNs},
                   [](const Accused& accused) {
                     return accused.main_cause == "lookup.network";
                   });
  EXPECT_GE(found, kFewestFound);
}

TEST(BlameSimulationTest, ASlowRootIsFound) {
  const int found = CountSystems(
      {.rpc = kQuery, .probability = kProbability, .extra_ns = kExtraNs},
      [](const Accused& accused) {
        return accused.main_cause == "query.server_handler";
      });
  EXPECT_GE(found, kFewestFound);
}

TEST(BlameSimulationTest, EqualsAreNotAccused) {
  const int accused = CountSystems({}, [](const Accused& accused) {
    return !accused.stragglers.empty() || !accused.main_cause.empty();
  });
  EXPECT_LE(accused, kMostFalse);
}

// Neither by stragglers nor by what would help, whatever requests are like.
TEST(BlameSimulationTest, HealthyInstancesAreNotAccused) {
  constexpr int kTests = 60;
  int all = 0;
  int accused = 0;
  for (const AccusationCase& simulated : CasesOfEquals()) {
    const int falsely = CountAccusations(simulated, kTests).falsely_accused;
    // 5 %, and three standard deviations of so few.
    EXPECT_LE(falsely, 8) << simulated.name;
    accused += falsely;
    all += kTests;
  }
  EXPECT_LE(accused, all / 20);
}

// With a reason to look for one.
TEST(BlameSimulationTest, SlowInstancesAreFound) {
  constexpr int kTests = 20;
  int wrongly = 0;
  int all = 0;
  for (const AccusationCase& simulated : CasesOfSlowInstances()) {
    const Accusations counts = CountAccusations(simulated, kTests);
    wrongly += counts.falsely_accused;
    all += kTests;
    if (simulated.system.large_share > 0) continue;
    if (simulated.system.asking == Asking::kOne) continue;
    EXPECT_GE(counts.found, kTests - 1) << simulated.name;
  }
  EXPECT_LE(wrongly, all / 20);
}

// Where a part of all requests is slow, no instance is.
TEST(BlameSimulationTest, InnocentInstancesAreNotAccused) {
  const int accused = CountSystems(
      {.rpc = kLookup, .probability = kProbability / 10, .extra_ns = kExtraNs},
      [](const Accused& accused) { return !accused.stragglers.empty(); });
  EXPECT_LE(accused, kMostFalse);
}

}  // namespace
}  // namespace distbench::blame
