// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/report/search_text.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "distbench/results/histogram_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

SearchReport FoundLoad() {
  SearchReport report;
  report.set_load_unit("iterations per second");
  report.set_load(350.24);
  return report;
}

TEST(SearchAnswerTest, HasTheInterval) {
  SearchReport report = FoundLoad();
  report.set_min_load(342.1);
  report.set_max_load(356.8);
  report.set_confidence_level(0.95);
  EXPECT_EQ(SearchAnswer(report),
            "350.2 (342.1 to 356.8) iterations per second, met, not proven at "
            "95 %");
  report.set_min_load(350.24);
  report.set_is_proven(true);
  EXPECT_EQ(SearchAnswer(report),
            "350.2 (350.2 to 356.8) iterations per second, proven at 95 %");
}

TEST(SearchAnswerTest, SaysWhatIsUnknown) {
  EXPECT_EQ(SearchAnswer({}), "");
  EXPECT_EQ(SearchAnswer(FoundLoad()), "350.24 iterations per second");
  SearchReport report = FoundLoad();
  report.set_confidence_level(0.95);
  report.set_max_load(400);
  EXPECT_EQ(SearchAnswer(report),
            "350.2 (? to 400) iterations per second, met, not proven at 95 %");
  report.clear_max_load();
  report.set_min_load(350.24);
  report.set_is_proven(true);
  EXPECT_EQ(SearchAnswer(report),
            "350.2 (350.2 to ?) iterations per second, proven at 95 %");
}

TEST(SearchAnswerTest, WritesHighLoadsOut) {
  SearchReport report = FoundLoad();
  report.set_load(1234567);
  report.set_min_load(999.96);
  report.set_confidence_level(0.95);
  EXPECT_EQ(SearchAnswer(report),
            "1234567 (1000 to ?) iterations per second, met, not proven at "
            "95 %");
}

// Adds a load of a list, with the logarithm of measured / limit.
void AddLoad(double load, const char* outcome, double excess,
             SearchReport& report) {
  report.set_load_unit("iterations per second");
  report.add_loads(load);
  SearchProbe& probe = *report.add_probes();
  probe.set_phase("final");
  probe.set_requested_load(load);
  probe.set_outcome(outcome);
  probe.set_excess(excess);
  probe.set_excess_error(0.1);
}

TEST(ListAnswerTest, SaysWhatIsKnownOfEachLoad) {
  SearchReport report;
  AddLoad(100, "met", -0.5, report);
  AddLoad(200, "met", -0.1, report);
  AddLoad(400, "missed", 2, report);
  AddLoad(800, "generator_limited", -1, report);
  EXPECT_EQ(AnswerOfList(report), 200);
  report.set_load(200);
  EXPECT_EQ(AnswerLine(report),
            "highest load that met: 200 iterations per second; met: 100; "
            "missed: 400; generator limited: 800; undecided at 95 %: 200 "
            "(met)");
  EXPECT_EQ(DoubtOf(report), "");
}

TEST(ListAnswerTest, IsBelowAllThatMissed) {
  SearchReport report;
  AddLoad(100, "met", -0.5, report);
  AddLoad(300, "missed", 0.03, report);
  AddLoad(400, "met", -0.5, report);
  EXPECT_EQ(AnswerOfList(report), 100);
  report.set_load(100);
  EXPECT_EQ(AnswerLine(report),
            "highest load below all that missed: 100 iterations per second; "
            "met: 100, 400; undecided at 95 %: 300 (missed)");
  EXPECT_THAT(DoubtOf(report), StartsWith("400 met although 300 missed, "));
  report.mutable_probes(1)->add_disturbances("a compiler ran");
  EXPECT_THAT(DoubtOf(report), HasSubstr("; other programs disturbed 1 of 3 "));
}

TEST(ListAnswerTest, MayBeNoneAlthoughALoadMet) {
  SearchReport report;
  AddLoad(100, "missed", 1, report);
  EXPECT_EQ(AnswerLine(report), "");
  AddLoad(400, "met", -0.5, report);
  EXPECT_EQ(AnswerOfList(report), std::nullopt);
  EXPECT_EQ(AnswerLine(report),
            "highest load below all that missed: none; met: 400; missed: 100");
}

TEST(ListAnswerTest, TheLowestIsAboveAllThatMissed) {
  SearchReport report;
  report.set_finds_lowest(true);
  AddLoad(100, "met", -0.5, report);
  AddLoad(200, "missed", 1, report);
  AddLoad(400, "met", -0.5, report);
  AddLoad(800, "met", -0.5, report);
  EXPECT_EQ(AnswerOfList(report), 400);
  report.set_load(400);
  EXPECT_THAT(AnswerLine(report),
              StartsWith("lowest load above all that missed: 400 "));
  EXPECT_THAT(DoubtOf(report), StartsWith("100 met although 200 missed, "));
}

RpcStatistics Statistics(int count) {
  stats::LogHistogram latency;
  for (int i = 0; i < count; ++i) latency.Record(500'000);
  RpcStatistics statistics;
  statistics.set_succeeded_count(count);
  statistics.set_first_start_timestamp_ns(0);
  statistics.set_last_end_timestamp_ns(1'000'000'000);
  results::EncodeHistogram(latency, *statistics.mutable_service_time_ns());
  return statistics;
}

SearchReport ReportOfOneProbe() {
  SearchReport report;
  report.mutable_search()->set_knob("rate");
  report.mutable_search()->add_objectives("query p95<=1ms");
  SearchProbe& probe = *report.add_probes();
  probe.set_number(3);
  probe.set_phase("final");
  probe.set_outcome("met");
  probe.set_requested_load(2000);
  probe.add_measured("p95 0.500 ms");
  probe.add_measured("an \"odd\", long remark");
  *probe.mutable_statistics() = Statistics(1000);
  return report;
}

TEST(SearchTableTest, PercentilesAmongFailuresAreEmpty) {
  SearchReport report = ReportOfOneProbe();
  report.mutable_probes(0)->mutable_statistics()->set_failed_count(250);
  const std::string row = SearchTableRows(report, report.probes(0));
  EXPECT_THAT(row, StartsWith("1.000,1000,2000.00,1000.00,0,0,0.00,0.00,0.500,"
                              "0.500,0.500,,,,,"));
  EXPECT_TRUE(absl::EndsWith(row, ",,80,0\n")) << row;
}

// As in JSON, where they are null.
TEST(SearchTableTest, PercentilesOfTooFewRpcsAreEmpty) {
  SearchReport report = ReportOfOneProbe();
  *report.mutable_probes(0)->mutable_statistics() = Statistics(50);
  EXPECT_THAT(SearchTableRows(report, report.probes(0)),
              StartsWith("1.000,50,2000.00,50.00,0,0,0.00,0.00,0.500,0.500,"
                         "0.500,0.500,0.500,,,3,final,"));
}

int CommasOutsideQuotes(const std::string& line) {
  int count = 0;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) ++count;
  }
  return count;
}

TEST(SearchTableTest, EndsWithWhetherItIsSimulated) {
  SearchReport report = ReportOfOneProbe();
  EXPECT_TRUE(absl::EndsWith(SearchTableHeader(), ",simulated"));
  for (const bool is_simulated : {false, true}) {
    report.set_simulated(is_simulated);
    EXPECT_TRUE(absl::EndsWith(SearchTableRows(report, report.probes(0)),
                               is_simulated ? ",1\n" : ",0\n"));
  }
}

TEST(SearchTableTest, BeginsWithTheCommonColumns) {
  EXPECT_THAT(SearchTableHeader(),
              StartsWith("duration_secs,total_queries,requested_qps,"
                         "achieved_qps,total_bytes_rx,total_bytes_tx,rx_MBps,"
                         "tx_MBps,min_ms,avg_ms,50p_ms,90p_ms,95p_ms,99p_ms,"
                         "99.9p_ms,"));
  const SearchReport report = ReportOfOneProbe();
  const std::string row = SearchTableRows(report, report.probes(0));
  EXPECT_THAT(row,
              StartsWith("1.000,1000,2000.00,1000.00,0,0,0.00,0.00,0.500"));
  EXPECT_THAT(row, HasSubstr(",3,final,met,0,"));
  EXPECT_THAT(row,
              HasSubstr("\"p95 0.500 ms; an \"\"odd\"\", long remark\",2000,"));
  EXPECT_EQ(CommasOutsideQuotes(row), CommasOutsideQuotes(SearchTableHeader()));
}

TEST(SearchTableTest, HasARowForEachInstance) {
  SearchReport report = ReportOfOneProbe();
  SearchProbe& probe = *report.mutable_probes(0);
  *probe.add_instance_statistics() = Statistics(400);
  *probe.add_instance_statistics() = Statistics(600);
  const std::vector<std::string> rows =
      absl::StrSplit(SearchTableRows(report, probe), '\n', absl::SkipEmpty());
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_THAT(rows[0], HasSubstr(",overall,"));
  EXPECT_THAT(rows[1], StartsWith("1.000,400,1000.00,400.00"));
  EXPECT_THAT(rows[2], HasSubstr(",2000,2,"));
}

TEST(SearchTableTest, KnowsNoRateOfOtherKnobs) {
  SearchReport report = ReportOfOneProbe();
  report.mutable_search()->set_knob("payload:p");
  EXPECT_THAT(SearchTableRows(report, report.probes(0)),
              StartsWith("1.000,1000,,1000.00,"));
}

TEST(SearchTextTest, SaysWhatWasFoundAndHow) {
  SearchReport report = ReportOfOneProbe();
  EXPECT_THAT(SummarizeSearch(report), Contains(HasSubstr("--resume")));
  report.set_verdict("converged");
  report.set_evidence("final run: 2000 met");
  report.set_load(2000);
  report.set_load_unit("iterations per second");
  const std::vector<std::string> lines = SummarizeSearch(report);
  EXPECT_THAT(lines, Contains("  converged: final run: 2000 met"));
  EXPECT_THAT(lines,
              Contains("  highest load whose final runs met: 2000 iterations "
                       "per second"));
  EXPECT_THAT(lines.back(), HasSubstr("p95 0.500 ms; an"));
  EXPECT_THAT(lines[0], StartsWith("Search for"));
  report.set_simulated(true);
  EXPECT_EQ(SummarizeSearch(report)[0], "Simulated, not measured:");
}

}  // namespace
}  // namespace distbench::search
