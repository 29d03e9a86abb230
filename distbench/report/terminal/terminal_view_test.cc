// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/terminal/terminal_view.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/report/text/text_summary.h"
#include "distbench/results/rpc_totals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1'000'000'000;

RpcStatistics& StatisticsOf(TestResult& result, const std::string& client,
                            const std::string& server, int rpc) {
  auto& instances = *result.mutable_service_logs()->mutable_instance_logs();
  auto& peers = *instances[client].mutable_peer_logs();
  return *(*peers[server].mutable_rpc_logs())[rpc].mutable_statistics();
}

// In two seconds, an open loop offers 1000 queries. Of these, 960 take 1 ms
// (and a response time of 2 ms), 20 take 100 ms, 10 fail and 10 are never sent.
// 18 times, a root asks a leaf, which takes 300 us.
TestResult Example() {
  TestResult result = ResultFromText(R"pb(
    traffic_config {
      name: "two_tiers"
      rpc_descriptions { name: "root_query" }
      rpc_descriptions { name: "leaf_query" }
    }
    run_info {
      findings {
        severity: NOTE
        code: "one_host"
        message: "All nodes are on one host."
      }
      findings {
        severity: INVALID
        code: "lost_load"
        message: "Of root_query, 1 % of the offered load was never sent."
        advice: "Lower the rate, or give the client more CPUs."
      }
    }
    log_summary: "RPC latency summary:"
    log_summary: "  root_query: N: 980"
  )pb");
  results::RpcTotals root;
  root.counts.succeeded_count = 980;
  root.counts.failed_count = 10;
  root.counts.warmup_count = 100;
  root.counts.first_start_timestamp_ns = kSecond;
  root.counts.last_end_timestamp_ns = 3 * kSecond;
  root.service_time_ns.RecordN(1 * kMs, 960);
  root.service_time_ns.RecordN(100 * kMs, 20);
  root.response_time_ns.RecordN(2 * kMs, 960);
  root.response_time_ns.RecordN(100 * kMs, 20);
  root.lateness_ns.RecordN(1 * kMs, 980);
  RpcStatistics& of_root = StatisticsOf(result, "client/0", "root/0", 0);
  root.Encode(of_root);
  (*of_root.mutable_failures_by_error())[1] = 10;
  ServicePerformanceLog& client =
      (*result.mutable_service_logs()->mutable_instance_logs())["client/0"];
  client.mutable_error_dictionary()->add_error_message("");
  client.mutable_error_dictionary()->add_error_message("UNAVAILABLE: refused");
  OfferedLoad& offered = (*client.mutable_offered_loads())[0];
  offered.set_offered_count(1000);
  offered.set_unsent_count(10);

  results::RpcTotals leaf;
  leaf.counts.succeeded_count = 18;
  leaf.counts.first_start_timestamp_ns = kSecond;
  leaf.counts.last_end_timestamp_ns = 3 * kSecond;
  leaf.service_time_ns.RecordN(300'000, 18);
  leaf.Encode(StatisticsOf(result, "root/0", "leaf/0", 1));
  return result;
}

std::string View(const TestResult& result, int columns) {
  return TerminalView(result, {.terminal = {.columns = columns}});
}

TEST(TerminalViewTest, SaysTheWorstFirst) {
  EXPECT_EQ("\n" + View(Example(), 100), R"(
two_tiers: invalid
  invalid    Of root_query, 1 % of the offered load was never sent. (lost_load)
             What to do: Lower the rate, or give the client more CPUs.
  note       All nodes are on one host. (one_host)
RPCs:
  RPC         offered  achieved     mean      p50      p95     p99       failed       unsent
  root_query    500/s     490/s  4.00 ms  2.00 ms  2.00 ms  failed  10 (1.01 %)  10 (1.00 %)
  leaf_query        -       9/s   300 us  ~300 us        -       -            0            0
  Latencies are response times of open loops, service times of other RPCs; ~ marks percentiles with
  fewer than ten RPCs beyond them.
Failures:
  root_query: 10 failed: UNAVAILABLE: refused
Pairs:
  pair                           achieved     mean      p99       failed
  client/0 -> root/0 root_query     490/s  4.00 ms  ~failed  10 (1.01 %)
  root/0 -> leaf/0 leaf_query         9/s   300 us        -            0
)");
}

TEST(TerminalViewTest, PairsOfFewRpcsHaveNoP99AlsoIfSomeFailed) {
  TestResult result = Example();
  StatisticsOf(result, "root/0", "leaf/0", 1).set_failed_count(9);
  const std::string view = View(result, 100);
  EXPECT_THAT(view,
              HasSubstr("leaf_query        -       9/s   300 us   300 us  "
                        "~failed       -   9 (33.3 %)            0\n"));
  EXPECT_THAT(view,
              HasSubstr("root/0 -> leaf/0 leaf_query         9/s   300 us "
                        "       -   9 (33.3 %)\n"));
}

// The server carries half of what is due in 2 s.
TEST(TerminalViewTest, AnOverloadedSystemIsOfferedMoreThanItAchieves) {
  TestResult result = Example();
  RpcStatistics& root = StatisticsOf(result, "client/0", "root/0", 0);
  root.set_last_end_timestamp_ns(5 * kSecond);
  RpcTimeSeries& series =
      (*(*result.mutable_service_logs()->mutable_instance_logs())["client/0"]
            .mutable_rpc_time_series())[0];
  series.set_interval_ns(kSecond);
  for (const int64_t second : {1, 2}) {
    RpcInterval& interval = *series.add_intervals();
    interval.set_index(second);
    interval.set_offered_count(500);
  }
  EXPECT_THAT(View(result, 100),
              HasSubstr("root_query    500/s     245/s  4.00 ms"));
}

TEST(TerminalViewTest, FitsANarrowTerminal) {
  EXPECT_EQ("\n" + View(Example(), 44), R"(
two_tiers: invalid
  invalid    Of root_query, 1 % of the
             offered load was never sent.
             (lost_load)
             What to do: Lower the rate, or
             give the client more CPUs.
  note       All nodes are on one host.
             (one_host)
RPCs:
  root_query
    offered 500/s, achieved 490/s, mean
    4.00 ms, p50 2.00 ms, p95 2.00 ms, p99
    failed, failed 10 (1.01 %), unsent 10
    (1.00 %)
  leaf_query
    achieved 9/s, mean 300 us, p50 ~300 us,
    failed 0, unsent 0
  Latencies are response times of open
  loops, service times of other RPCs; ~
  marks percentiles with fewer than ten RPCs
  beyond them.
Failures:
  root_query: 10 failed: UNAVAILABLE:
  refused
Pairs:
  client/0 -> root/0 root_query
    achieved 490/s, mean 4.00 ms, p99
    ~failed, failed 10 (1.01 %)
  root/0 -> leaf/0 leaf_query
    achieved 9/s, mean 300 us, failed 0
)");
}

TEST(TerminalViewTest, SimulatedResultsAreMarkedInTheHeadline) {
  TestResult result = Example();
  result.mutable_simulation()->set_host_count(40);
  EXPECT_THAT(View(result, 100),
              StartsWith("two_tiers (simulated): invalid\n"));
  EXPECT_THAT(View(Example(), 100), Not(HasSubstr("imulated")));
}

TEST(TerminalViewTest, FitsEveryWidth) {
  const TestResult results[] = {Example(), MakeExampleResult({}),
                                MakeExampleResult({.clients = 4})};
  for (const TestResult& result : results) {
    for (const int columns : {40, 50, 60, 80, 120, 200}) {
      for (absl::string_view line :
           absl::StrSplit(View(result, columns), '\n')) {
        EXPECT_LE(line.size(), columns) << line;
      }
    }
  }
}

TEST(TerminalViewTest, ColorsOnlyWhatIsGoodOrBad) {
  TestResult result = Example();
  result.mutable_traffic_config()->add_objectives("root_query p50<=1s");
  result.mutable_traffic_config()->add_objectives("root_query p95<=5ms");
  const std::string view =
      TerminalView(result, {.terminal = {.columns = 80, .has_color = true}});
  EXPECT_THAT(view, StartsWith("two_tiers: \x1b[1;31minvalid\x1b[0m (1 met, "
                               "1 undecided of 2 objectives)\n"));
  EXPECT_THAT(view, HasSubstr("\x1b[32m  pass\x1b[0m"));
  EXPECT_THAT(view, HasSubstr("\x1b[33m  undecided\x1b[0m"));
  EXPECT_THAT(view, HasSubstr("\x1b[1;31m10 (1.01 %)\x1b[0m"));
  EXPECT_THAT(View(Example(), 80), Not(HasSubstr("\x1b")));
}

TEST(TerminalViewTest, ListsPairsThatFitTheScreen) {
  const TestResult few = MakeExampleResult({.clients = 2, .servers = 3});
  EXPECT_THAT(View(few, 80), HasSubstr("client/1 -> server/2 rpc_1"));
  const TestResult many = MakeExampleResult({.clients = 5, .servers = 5});
  EXPECT_THAT(
      View(many, 80),
      HasSubstr("Pairs:\n  50 pairs of client and server: --verbose lists "
                "them\n"));
  EXPECT_THAT(View(many, 80), Not(HasSubstr("client/1 -> ")));
  EXPECT_THAT(TerminalView(many, {.terminal = {.rows = 60}}),
              HasSubstr("client/4 -> server/4 rpc_1"));
  // As paragraphs they take two lines each.
  EXPECT_THAT(View(few, 40), HasSubstr("12 pairs of client and server"));
}

TEST(TerminalViewTest, VerboseAddsTheWholeSummary) {
  TestResult result = MakeExampleResult({.clients = 5, .servers = 5});
  for (std::string& line : SummarizeTest(result)) {
    result.add_log_summary(std::move(line));
  }
  EXPECT_THAT(View(result, 80), Not(HasSubstr("Communication summary:")));
  const std::string verbose = TerminalView(result, {.verbose = true});
  EXPECT_THAT(verbose, HasSubstr("  client/4 -> server/4: RPCs: "));
  EXPECT_THAT(verbose, Not(HasSubstr("--verbose")));
}

TEST(TerminalViewTest, SaysWhyATestFailed) {
  TestResult result;
  result.mutable_traffic_config()->set_name("t");
  result.mutable_run_info()->set_failure("node1 was lost\nat 12:00");
  EXPECT_THAT(View(result, 80),
              StartsWith("t: failed\n"
                         "  failed     node1 was lost at 12:00 (what it "
                         "measured is incomplete)\n"));
}

TEST(TerminalViewTest, DamagedLogsAreInTheVerdict) {
  TestResult result = ResultFromText(R"pb(
    traffic_config {
      name: "t"
      rpc_descriptions { name: "query" }
    }
  )pb");
  StatisticsOf(result, "client/0", "server/0", 0).set_failed_count(-1);
  EXPECT_THAT(View(result, 80), StartsWith("t: invalid\n"
                                           "  invalid    1 log is left out"));
}

TEST(TerminalViewTest, ShowsAnRpcThatAlwaysFailed) {
  TestResult result = ResultFromText(R"pb(
    traffic_config { rpc_descriptions { name: "query" } }
  )pb");
  StatisticsOf(result, "client/0", "server/0", 0).set_failed_count(2000);
  EXPECT_THAT(View(result, 80),
              HasSubstr("  RPC    achieved  mean     p50     p95     p99        "
                        "failed\n"
                        "  query       0/s     -  failed  failed  failed  2000 "
                        "(100 %)\n"));
}

TEST(TerminalViewTest, ShowsTheSummaryOfAResultWithoutLogs) {
  TestResult result = Example();
  result.clear_service_logs();
  EXPECT_THAT(View(result, 80), HasSubstr("Test summary:\n"
                                          "RPC latency summary:\n"
                                          "  root_query: N: 980\n"));
}

TEST(TerminalViewTest, JudgesObjectivesAfterTheFindings) {
  TestResult result = Example();
  result.mutable_traffic_config()->add_objectives("root_query p50<=1s");
  EXPECT_THAT(TerminalView(result, {.terminal = {.columns = 200},
                                    .objectives = {"root_query rate>=1000"}}),
              ContainsRegex("\\(one_host\\)\n"
                            "Objectives:\n"
                            "  pass       root_query p50<=1s: [^\n]+\n"
                            "  FAIL       root_query rate>=1000: [^\n]+\n"
                            "RPCs:\n"));
}

TEST(TerminalViewTest, TheFirstLineHasTheObjectives) {
  TestResult result = Example();
  result.mutable_run_info()->clear_findings();
  result.mutable_traffic_config()->add_objectives("root_query p50<=1s");
  EXPECT_THAT(TerminalView(result, {.terminal = {.columns = 200},
                                    .objectives = {"root_query rate>=1000"}}),
              StartsWith("two_tiers: missed (1 met, 1 missed of 2 "
                         "objectives)\n"));
  EXPECT_THAT(TerminalView(result, {.terminal = {.columns = 30},
                                    .objectives = {"root_query rate>=1000"}}),
              StartsWith("two_tiers: missed (1 met, 1\n"
                         "  missed of 2 objectives)\n"));
  EXPECT_THAT(TerminalView(result, {.terminal = {.has_color = true}}),
              StartsWith("two_tiers: \x1b[32mok\x1b[0m (1 met of 1 "
                         "objective)\n"));
}

TEST(TerminalViewTest, FoldsFindingsOfAKind) {
  TestResult result = Example();
  for (const std::string host : {"a", "b", "c", "d", "e"}) {
    Finding& finding = *result.mutable_run_info()->add_findings();
    finding.set_severity(Finding::WARN);
    finding.set_code("clock_skew");
    finding.set_message(host + " is busy");
    finding.set_advice("Stop it.");
  }
  EXPECT_THAT(View(result, 80),
              HasSubstr("  warn       c is busy (clock_skew)\n"
                        "             and 2 more (clock_skew): --verbose lists "
                        "them\n"
                        "             What to do: Stop it.\n"
                        "  note "));
}

TEST(TerminalViewTest, TheCallerSaysWhichRepetitionItIsAndWhereTheListsAre) {
  const TestResult many = MakeExampleResult({.clients = 5, .servers = 5});
  const std::string view = TerminalView(
      many, {.name_suffix = " #3", .flag_of_lists = "--format=text"});
  EXPECT_THAT(view, StartsWith("example #3: "));
  EXPECT_THAT(view, HasSubstr("--format=text lists them"));
  EXPECT_THAT(view, Not(HasSubstr("--verbose")));
}

TEST(TerminalViewTest, NamesCannotMoveTheCursor) {
  TestResult result = Example();
  for (std::string* name :
       {result.mutable_traffic_config()->mutable_name(),
        result.mutable_traffic_config()
            ->mutable_rpc_descriptions(0)
            ->mutable_name(),
        result.mutable_run_info()->mutable_findings(0)->mutable_message()}) {
    *name = "a\x1b[2Jb\rc";
  }
  const std::string view = View(result, 80);
  EXPECT_THAT(view, Not(HasSubstr("\x1b")));
  EXPECT_THAT(view, Not(HasSubstr("\r")));
}

TEST(ResultTextTest, OnlyATerminalGetsTheView) {
  EXPECT_EQ(ResultText(Example(), {}),
            "Test summary:\n"
            "RPC latency summary:\n"
            "  root_query: N: 980\n");
  EXPECT_EQ(ResultText(
                Example(),
                {.terminal = {.is_terminal = true, .columns = 44, .rows = 24}}),
            View(Example(), 44));
}

}  // namespace
}  // namespace distbench::report
