// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison_formats/comparison_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "distbench/report/comparison/testing/fake_run_metrics.h"
#include "distbench/report/comparison/testing/made_runs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

ComparisonReport ReportOf(std::vector<TestResult> base,
                          std::vector<TestResult> next,
                          const std::vector<CheckVerdict>& verdicts = {}) {
  ComparisonReport report;
  report.tests = Compared(std::move(base), std::move(next));
  for (const CheckVerdict verdict : verdicts) {
    report.checks.push_back({.test = "t", .verdict = verdict});
  }
  return report;
}

const std::vector<TestResult>& Fast() {
  static const auto& runs =
      *new std::vector<TestResult>{RunOf(1000), RunOf(1010), RunOf(990)};
  return runs;
}

const std::vector<TestResult>& Slow() {
  static const auto& runs =
      *new std::vector<TestResult>{RunOf(2000), RunOf(2020), RunOf(1980)};
  return runs;
}

TEST(HeadlineTest, IsTheWorstThatApplies) {
  EXPECT_EQ(HeadlineOf(ReportOf(Fast(), Slow())).verdict, "worse");
  EXPECT_EQ(HeadlineOf(ReportOf(Slow(), Fast())).verdict, "better");
  EXPECT_EQ(HeadlineOf(ReportOf(Fast(), Fast())).verdict, "no difference");
  EXPECT_EQ(HeadlineOf(ReportOf({RunOf(1000)}, Slow())).verdict, "not shown");
  EXPECT_EQ(HeadlineOf(ReportOf({}, Slow())).verdict, "not comparable");

  TestResult failed = RunOf(1000);
  failed.mutable_run_info()->set_failure("node1 was lost");
  EXPECT_EQ(
      HeadlineOf(ReportOf(Fast(), {failed}, {CheckVerdict::kFail})).verdict,
      "invalid");
}

// Of many verdicts, one that errs must not be the headline.
TEST(HeadlineTest, IsNoChangeThatChanceMayGive) {
  const ComparisonReport report =
      ReportOf(Fast(), {RunOf(1017), RunOf(1035), RunOf(1029)});
  const Headline headline = HeadlineOf(report);
  EXPECT_EQ(headline.verdict, "no difference");
  EXPECT_EQ(headline.text,
            "Metrics: 5 worse, 2 without a difference shown. All that changed "
            "is what chance may give.");
}

// They are judged by themselves, and the metrics that they add are not among
// those that the headline goes by.
TEST(HeadlineTest, NothingIsSaidOfChanceBesideConditions) {
  using enum CheckVerdict;
  for (const CheckVerdict verdict : {kFail, kPass, kUndecided}) {
    const ComparisonReport report =
        ReportOf(Fast(), {RunOf(1017), RunOf(1035), RunOf(1029)}, {verdict});
    EXPECT_THAT(
        HeadlineOf(report).text,
        testing::EndsWith("Metrics: 5 worse, 2 without a difference shown."));
  }
}

TEST(HeadlineTest, ConditionsComeBeforeMetrics) {
  const auto verdict_of = [](const std::vector<CheckVerdict>& verdicts,
                             bool allow_undecided = false) {
    ComparisonReport report = ReportOf(Fast(), Slow(), verdicts);
    report.allow_undecided = allow_undecided;
    return HeadlineOf(report).verdict;
  };
  using enum CheckVerdict;
  EXPECT_EQ(verdict_of({kPass, kPass}), "passed");
  EXPECT_EQ(verdict_of({kPass, kUndecided}), "undecided");
  EXPECT_EQ(verdict_of({kPass, kUndecided}, true), "passed");
  EXPECT_EQ(verdict_of({kFail, kUndecided}, true), "failed");
}

TEST(HeadlineTest, CountsWhatThereIs) {
  // p50, p90, p99, p99.9 and the mean are worse; rate and failures are equal.
  EXPECT_EQ(HeadlineOf(ReportOf(Fast(), Slow(),
                                {CheckVerdict::kFail, CheckVerdict::kPass}))
                .text,
            "Conditions: 1 failed, 1 passed. Metrics: 5 worse, 2 without a "
            "difference shown.");
  EXPECT_EQ(HeadlineOf(ReportOf({}, Slow())).text, "Tests: 1 not compared.");
  EXPECT_EQ(HeadlineOf(ComparisonReport()).text, "Nothing was compared.");
  const Headline single = HeadlineOf(ReportOf({RunOf(1000)}, {RunOf(2000)}));
  EXPECT_EQ(single.text, "Metrics: 7 with too few runs for a verdict.");
  EXPECT_THAT(single.cautions, ElementsAre(HasSubstr("--repeat=5")));
}

TEST(ComparisonReportTest, TheWorstComesFirst) {
  const ComparisonReport report = ReportOf(
      {RunOf(1000, 9000), RunOf(1010, 9090)},
      {RunOf(2000, 18'000), RunOf(2020, 18'180)},
      {CheckVerdict::kPass, CheckVerdict::kUndecided, CheckVerdict::kFail});
  const std::vector<PlacedMetric> metrics = MetricsWorstFirst(report);
  ASSERT_THAT(metrics, SizeIs(7));
  EXPECT_EQ(metrics[0].metric->verdict, ComparisonVerdict::kWorse);
  EXPECT_EQ(metrics[5].metric->verdict, ComparisonVerdict::kBetter);
  EXPECT_EQ(stats::MetricName(metrics[5].metric->metric), "rate");
  EXPECT_EQ(stats::MetricName(metrics[6].metric->metric), "failures");
  const std::vector<Check> checks = ChecksWorstFirst(report);
  EXPECT_EQ(checks[0].verdict, CheckVerdict::kFail);
  EXPECT_EQ(checks[1].verdict, CheckVerdict::kUndecided);
}

using Json = nlohmann::ordered_json;

// Could end a cell, a line, an attribute or a script, is markup in Markdown and
// HTML, and is not valid UTF-8.
constexpr char kHostile[] =
    "a|b`c`*d*]]></script><img src=x>\"q\"&\n@octocat\x1b\xff";

// The same, of two files that have names.
ComparisonReport ReportOfFiles(std::vector<TestResult> base,
                               std::vector<TestResult> next,
                               const CompareOptions& options = {}) {
  return {.base = {"base.pb", {}},
          .next = {"new.pb", {}},
          .tests = Compared(std::move(base), std::move(next), options)};
}

// Slower, with two conditions.
ComparisonReport SlowerReport() {
  CompareOptions options;
  options.metrics = {{stats::Metric::Kind::kPercentile, 99},
                     {stats::Metric::Kind::kRate},
                     {stats::Metric::Kind::kFailures}};
  ComparisonReport report =
      ReportOfFiles({RunOf(1'000'000), RunOf(1'010'000)},
                    {RunOf(2'000'000), RunOf(2'020'000)}, options);
  report.checks = {
      {"t", "query:p99>5%", CheckVerdict::kFail, "p99 changed by +100%"},
      {"t", "query:rate<-3%", CheckVerdict::kPass, "rate changed by 0%"}};
  return report;
}

ComparisonReport HostileReport() {
  TestResult base = RunOf(1000);
  base.mutable_traffic_config()->set_name(kHostile);
  base.mutable_traffic_config()->mutable_rpc_descriptions(0)->set_name(
      kHostile);
  TestResult other = base;
  other.mutable_run_info()->set_version(kHostile);
  TestResult failed = base;
  failed.mutable_traffic_config()->set_name("failed");
  failed.mutable_run_info()->set_failure(kHostile);
  ComparisonReport report = ReportOfFiles({base, failed}, {other, failed});
  report.base.source = kHostile;
  return report;
}

Json JsonOf(const ComparisonReport& report) {
  return Json::parse(ComparisonJson(report));
}

TEST(ComparisonJsonTest, HasNumbersAndVerdicts) {
  const Json json = JsonOf(SlowerReport());
  EXPECT_EQ(json["schema"], "distbench comparison");
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["verdict"], "failed");
  EXPECT_EQ(json["base"]["source"], "base.pb");
  EXPECT_EQ(json["checks"][0]["verdict"], "fail");
  const Json& test = json["tests"][0];
  EXPECT_EQ(test["name"], "t");
  EXPECT_EQ(test["base_runs"], 2);
  EXPECT_TRUE(test["not_comparable"].is_null());
  const Json& p99 = test["rpcs"][0]["metrics"][0];
  EXPECT_EQ(p99["metric"], "p99");
  EXPECT_EQ(p99["unit"], "ns");
  EXPECT_EQ(p99["verdict"], "worse");
  EXPECT_NEAR(p99["base"], 1'005'000, 10'000);
  EXPECT_NEAR(p99["difference"], 1'005'000, 20'000);
  EXPECT_NEAR(p99["change"], 2, 0.02);
  EXPECT_LT(p99["lower"], p99["change"]);
  EXPECT_GT(p99["upper"], p99["change"]);
  EXPECT_EQ(p99["base_values"].size(), 2u);
  EXPECT_EQ(p99["new_rpcs"], 20'000);
  EXPECT_TRUE(p99["noise_floor"].is_null());
  const Json& failures = test["rpcs"][0]["metrics"][2];
  EXPECT_EQ(failures["unit"], "share");
  EXPECT_EQ(failures["change_is"], "difference");
  EXPECT_EQ(failures["change"], 0);
}

TEST(ComparisonJsonTest, WhatIsNotKnownIsNull) {
  const Json single =
      JsonOf(ReportOfFiles({RunOf(1000, 500)}, {RunOf(2000, 500)}));
  const Json& metrics = single["tests"][0]["rpcs"][0]["metrics"];
  EXPECT_EQ(metrics[0]["verdict"], "not shown");
  EXPECT_NEAR(metrics[0]["change"], 2, 0.02);
  EXPECT_TRUE(metrics[0]["lower"].is_null());
  EXPECT_EQ(metrics[3]["verdict"], "not comparable");
  EXPECT_EQ(metrics[3]["reason"], "too few RPCs in run 1 of 1 of base");
  EXPECT_TRUE(metrics[3]["base"].is_null());
  const Json one_side = JsonOf(ReportOfFiles({RunOf(1000)}, {}));
  EXPECT_EQ(one_side["tests"][0]["not_comparable"], "it is in base only");
  EXPECT_TRUE(one_side["tests"][0]["new_name"].is_null());
}

TEST(ComparisonJsonTest, NoiseIsBesideTheChange) {
  const ComparisonReport noise =
      ReportOfFiles({RunOf(1000), RunOf(1010), RunOf(990)}, {RunOf(1000)});
  MetricComparison metric = noise.tests[0].rpcs[0].metrics[0];
  metric.noise_floor = 0.05;
  ComparisonReport report = noise;
  report.tests[0].rpcs[0].metrics = {metric};
  const Json json = JsonOf(report)["tests"][0]["rpcs"][0]["metrics"][0];
  EXPECT_EQ(json["noise_floor"], 0.05);
  EXPECT_EQ(json["is_beyond_noise_floor"], false);
}

TEST(ComparisonMarkdownTest, SaysTheVerdictFirst) {
  const std::string text = ComparisonMarkdown(SlowerReport());
  EXPECT_EQ(text.substr(0, text.find("| verdict")),
            "**distbench: failed.** Conditions: 1 failed, 1 passed. Metrics: 1 "
            "worse, 2 without a difference shown.\n\n"
            "Base: base.pb (0 runs), new: new.pb (0 runs).\n\n");
  EXPECT_THAT(text,
              HasSubstr("| FAIL | t | query:p99>5% | p99 changed by +100% |\n"
                        "| pass | t | query:rate&lt;-3% |"));
  EXPECT_THAT(text, HasSubstr("| worse | t | query | p99 | 1.00 ms | 2.01 ms | "
                              "+100.0 % | "));
  EXPECT_THAT(text, HasSubstr("<summary>Other metrics: 2</summary>\n\n|"));
}

TEST(ComparisonMarkdownTest, HasAllCellsOfARow) {
  for (const ComparisonReport& report : {SlowerReport(), HostileReport()}) {
    size_t columns = 0;
    for (const absl::string_view line :
         absl::StrSplit(ComparisonMarkdown(report), '\n')) {
      if (line.substr(0, 1) != "|") {
        columns = 0;
        continue;
      }
      const std::string shown = absl::StrReplaceAll(line, {{"\\|", ""}});
      const size_t cells = std::count(shown.begin(), shown.end(), '|');
      if (columns == 0) columns = cells;
      EXPECT_EQ(cells, columns) << line;
    }
  }
}

TEST(ComparisonMarkdownTest, FitsIntoAComment) {
  ComparisonReport report = SlowerReport();
  const RpcComparison rpc = report.tests[0].rpcs[0];
  report.tests[0].rpcs.assign(1000, rpc);
  report.tests[0].notes.assign(1000, std::string(1000, 'x'));
  const std::string text = ComparisonMarkdown(report);
  EXPECT_LT(text.size(), 65'536u);
  EXPECT_THAT(text, HasSubstr("940 more rows are in the JSON document."));
}

TEST(ComparisonJunitTest, FailsWhereConditionsDo) {
  EXPECT_THAT(
      ComparisonJunit(SlowerReport()),
      HasSubstr("<testsuite name=\"t\" tests=\"2\" failures=\"1\" errors=\"0\" "
                "skipped=\"0\">\n"
                "    <testcase classname=\"t\" name=\"query:p99&gt;5%\">"
                "<failure message=\"FAIL: p99 changed by +100%\"/>"));
}

TEST(ComparisonJunitTest, WithoutConditionsMetricsAreCases) {
  ComparisonReport report = SlowerReport();
  report.checks.clear();
  const std::string xml = ComparisonJunit(report);
  EXPECT_THAT(xml, HasSubstr("tests=\"3\" failures=\"0\" errors=\"0\""));
  EXPECT_THAT(xml, HasSubstr("name=\"query p99\"><system-out>worse: 1.00 ms "
                             "-&gt; 2.01 ms, x2.000 ("));
  EXPECT_THAT(
      ComparisonJunit(ReportOfFiles({RunOf(1000)}, {RunOf(1000)})),
      HasSubstr("tests=\"7\" failures=\"0\" errors=\"0\" skipped=\"7\""));
}

TEST(ComparisonJunitTest, RunsThatFailedAreErrors) {
  TestResult failed = RunOf(1000);
  failed.mutable_run_info()->set_failure("node1 was lost");
  EXPECT_THAT(ComparisonJunit(ReportOfFiles({RunOf(1000)}, {failed})),
              HasSubstr("<error message=\"run 1 of 1 of new did not run to its "
                        "end: node1 was lost\"/>"));
  EXPECT_THAT(ComparisonJunit(ReportOfFiles({RunOf(1000)}, {})),
              HasSubstr("<skipped message=\"it is in base only\"/>"));
}

// Runs that are alike but for a metric that no RPC has.
ComparisonReport WatchedReport(const std::vector<double>& base,
                               const std::vector<double>& next) {
  const auto runs_with = [](const std::vector<double>& values) {
    std::vector<TestResult> runs;
    for (const double value : values) {
      AddRunMetric(
          {.name = "heap", .value = value, .unit = stats::MetricUnit::kBytes},
          runs.emplace_back(RunOf(1000)));
    }
    return runs;
  };
  return ReportOfFiles(runs_with(base), runs_with(next));
}

TEST(ComparisonRunMetricTest, ADifferenceIsTheHeadlineButNotWorse) {
  const ComparisonReport report =
      WatchedReport({1024, 1025, 1026}, {2048, 2050, 2052});
  EXPECT_EQ(HeadlineOf(report).verdict, "differs");
  EXPECT_EQ(HeadlineOf(report).text,
            "Metrics: 1 different, 7 without a difference shown.");
  EXPECT_EQ(HeadlineOf(WatchedReport({1, 1}, {1, 1})).verdict, "no difference");
  const std::vector<PlacedMetric> metrics = MetricsWorstFirst(report);
  ASSERT_THAT(metrics, SizeIs(8));
  EXPECT_EQ(metrics[0].rpc, nullptr);
  EXPECT_EQ(stats::MetricName(metrics[0].metric->metric), "metric:heap");
}

TEST(ComparisonRunMetricTest, JsonHasThemBesideTheRpcs) {
  const Json json =
      JsonOf(WatchedReport({1024, 1025, 1026}, {2048, 2050, 2052}));
  const Json& metric = json["tests"][0]["metrics"][0];
  EXPECT_EQ(metric["metric"], "metric:heap");
  EXPECT_EQ(metric["unit"], "bytes");
  EXPECT_EQ(metric["verdict"], "differs");
  EXPECT_EQ(metric["change_is"], "ratio");
  EXPECT_TRUE(metric["higher_is_better"].is_null());
  EXPECT_TRUE(metric["base_rpcs"].is_null());
  EXPECT_EQ(metric["base_values"], Json({1024, 1025, 1026}));
  EXPECT_EQ(JsonOf(SlowerReport())["tests"][0]["metrics"], Json::array());
}

TEST(ComparisonRunMetricTest, AllFormatsHaveThem) {
  const ComparisonReport report =
      WatchedReport({1024, 1025, 1026}, {2048, 2050, 2052});
  EXPECT_THAT(ComparisonText(report),
              testing::ContainsRegex("metric:heap +1.0 KiB +2.0 KiB +x2.000 "));
  EXPECT_THAT(ComparisonMarkdown(report),
              HasSubstr("| differs | t | - | metric:heap | 1.0 KiB | 2.0 KiB | "
                        "+100.0 % |"));
  EXPECT_THAT(
      ComparisonJunit(report),
      HasSubstr("name=\"metric:heap\"><system-out>differs: 1.0 KiB -&gt; "
                "2.0 KiB, x2.000 ("));
  EXPECT_THAT(ComparisonMarkdown(WatchedReport({0, 0}, {10, 10})),
              HasSubstr("| differs | t | - | metric:heap | 0 B | 10 B | +10 B |"));
}

TEST(ComparisonFormatsTest, HostileNamesStayText) {
  const ComparisonReport report = HostileReport();
  const Json json = JsonOf(report);
  EXPECT_THAT(
      json["tests"][0]["name"].get<std::string>(),
      HasSubstr("</script><img src=x>\"q\"&\n@octocat\x1b\xef\xbf\xbd"));
  const std::string markdown = ComparisonMarkdown(report);
  EXPECT_THAT(markdown, HasSubstr("a\\|b\\`c\\`\\*d\\*\\]\\]>&lt;/script>"));
  for (const char* raw : {"<img", "@octocat", "\x1b", "\xff"}) {
    EXPECT_THAT(markdown, Not(HasSubstr(raw)));
  }
  const std::string xml = ComparisonJunit(report);
  EXPECT_THAT(xml, HasSubstr("]]&gt;&lt;/script&gt;&lt;img src=x&gt;&quot;"));
  for (const char* raw : {"<img", "\x1b", "\xff"}) {
    EXPECT_THAT(xml, Not(HasSubstr(raw)));
  }
}

TEST(ComparisonFormatsTest, AllAgree) {
  const ComparisonReport report = SlowerReport();
  const Json json = JsonOf(report);
  const std::string headline = json["headline"];
  const std::string verdict = json["verdict"];
  EXPECT_THAT(ComparisonText(report),
              HasSubstr(absl::StrCat("Result: ", verdict, ". ", headline)));
  EXPECT_THAT(
      ComparisonMarkdown(report),
      HasSubstr(absl::StrCat("**distbench: ", verdict, ".** ", headline)));
  EXPECT_THAT(ComparisonText(report), testing::ContainsRegex("p99 .* worse\n"));
}

// There may be one: programs have a short name for it.
TEST(ComparisonFormatsTest, PeopleReadThatNoDifferenceWasShown) {
  const ComparisonReport report = ReportOfFiles(Fast(), Fast());
  const Json json = JsonOf(report);
  EXPECT_EQ(json["verdict"], "no difference");
  EXPECT_EQ(json["tests"][0]["rpcs"][0]["metrics"][0]["verdict"],
            "no difference");
  EXPECT_THAT(ComparisonText(report),
              testing::StartsWith("Result: no difference shown. Metrics: "));
  EXPECT_THAT(ComparisonMarkdown(report),
              testing::StartsWith("**distbench: no difference shown.** "));
  EXPECT_THAT(ComparisonJunit(report),
              HasSubstr("<system-out>no difference shown: "));
}

TEST(ComparisonFormatsTest, AllHaveTheWarningsOfRuns) {
  std::vector<TestResult> runs = Fast();
  for (TestResult& run : runs) {
    Finding& finding = *run.mutable_run_info()->add_findings();
    finding.set_severity(Finding::WARN);
    finding.set_code("stalls");
  }
  ComparisonReport report = ReportOfFiles(Fast(), runs);
  const std::string caution =
      "Warnings in 0 of 3 runs of base and 3 of 3 of new: stalls.";
  EXPECT_EQ(JsonOf(report)["cautions"][0], caution);
  EXPECT_THAT(ComparisonText(report), HasSubstr(caution + "\n"));
  EXPECT_THAT(ComparisonMarkdown(report), HasSubstr("| - | " + caution + " |"));
  EXPECT_THAT(ComparisonJunit(report), HasSubstr("<system-out>" + caution));
  report.checks = SlowerReport().checks;
  EXPECT_THAT(ComparisonJunit(report), HasSubstr("<system-out>" + caution));
}

TEST(ComparisonFormatsTest, NothingToCompareIsSaid) {
  const ComparisonReport nothing = {};
  EXPECT_THAT(ComparisonText(nothing), HasSubstr("Nothing was compared."));
  EXPECT_EQ(JsonOf(nothing)["verdict"], "not comparable");
  EXPECT_THAT(ComparisonJunit(nothing), HasSubstr("<testsuites>"));
}

}  // namespace
}  // namespace distbench::report
