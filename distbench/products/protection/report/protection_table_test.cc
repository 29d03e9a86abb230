// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/report/protection_table.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/products/protection/measures/testing/example_experiment.h"
#include "distbench/report/json/json.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/results/time_series.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::HasSubstr;

using CsvRow = std::map<std::string, std::string>;

// The rows, keyed by column. The example has no cells that need quotes.
using ListRows = void (*)(const ProtectionMatrix& matrix, report::RowSink sink);

std::vector<CsvRow> Csv(const TestSequenceResults& results,
                        const google::protobuf::Descriptor& row,
                        ListRows list_rows) {
  const std::vector<report::SourcedResults> sourced = {{"file.pb", results}};
  std::string csv;
  RenderProtectionCsv(
      report::ListRuns(sourced), row, list_rows,
      [&](absl::string_view bytes) { absl::StrAppend(&csv, bytes); });
  std::vector<std::string> lines = absl::StrSplit(csv, '\n');
  EXPECT_EQ(lines.back(), "");
  lines.pop_back();
  const std::vector<std::string> names = absl::StrSplit(lines[0], ',');
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(),
            names.size());
  std::vector<CsvRow> rows;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> cells = absl::StrSplit(lines[i], ',');
    EXPECT_EQ(cells.size(), names.size());
    CsvRow& row = rows.emplace_back();
    for (size_t k = 0; k < names.size(); ++k) row[names[k]] = cells[k];
  }
  return rows;
}

std::vector<CsvRow> CellsCsv(const TestSequenceResults& results) {
  return Csv(results, *ReportedExperiment::CellTable::Row::descriptor(),
             ListCells);
}

std::vector<CsvRow> SecondsCsv(const TestSequenceResults& results) {
  return Csv(results, *ReportedExperiment::SecondTable::Row::descriptor(),
             ListSeconds);
}

TEST(ProtectionTableTest, HasARowPerCell) {
  const std::vector<CsvRow> rows = CellsCsv(MakeExampleExperiment());
  ASSERT_EQ(rows.size(), 6);
  CsvRow none = rows[0];
  EXPECT_EQ(none["source"], "file.pb");
  EXPECT_EQ(none["test"], "protected");
  EXPECT_EQ(none["antagonist"], "");
  EXPECT_EQ(none["mean_isol"], "1");
  EXPECT_EQ(none["work_csv"], "");
  CsvRow hog = rows[1];
  EXPECT_EQ(hog["controls"], "off");
  EXPECT_EQ(hog["runs"], "3");
  EXPECT_EQ(hog["seconds"], "30");
  EXPECT_EQ(hog["mean_isol"], "0.51");
  EXPECT_EQ(hog["isol_min"], "0.5");
  EXPECT_EQ(hog["isol_max"], "0.52");
  EXPECT_EQ(hog["lat_imp_p95_mean"], "1");
  EXPECT_EQ(hog["recovered_after_s"], "0");
  EXPECT_EQ(hog["antagonist_completed_per_second"], "80");
  EXPECT_EQ(hog["antagonist_alone_completed_per_second"], "60");
}

TEST(ProtectionTableTest, HasARowPerSecond) {
  const std::vector<CsvRow> rows = SecondsCsv(MakeExampleExperiment());
  ASSERT_EQ(rows.size(), 6 * 3 * 30);
  // The cell "off:hog" follows the three runs without antagonist.
  CsvRow baseline = rows[3 * 30];
  EXPECT_EQ(baseline["phase"], "baseline");
  EXPECT_EQ(baseline["goodput_per_second"], "100");
  EXPECT_EQ(baseline["antagonist_completed_per_second"], "0");
  CsvRow beside = rows[3 * 30 + 10];
  EXPECT_EQ(beside["phase"], "interference");
  EXPECT_EQ(beside["state"], "measured");
  EXPECT_EQ(beside["start_timestamp_ns"], "1700000010000000000");
  EXPECT_EQ(beside["isol"], "0.5");
  EXPECT_EQ(beside["p95_ns"], "2000000");
  EXPECT_EQ(beside["lat_imp_p95"], "1");
  EXPECT_EQ(beside["antagonist_offered_per_second"], "100");
  EXPECT_EQ(beside["subject_memory_bytes"], "67108864");
  EXPECT_EQ(beside["subject_memory_pressure"], "0.25");
  EXPECT_EQ(beside["host_memory_pressure"], "0.1");
  EXPECT_EQ(beside["antagonist_cpus"], "");
}

TEST(ProtectionTableTest, WideIntervalsHaveAllWorkOfTheAntagonist) {
  ExampleRun run = SteadyRun(100, 1'000'000);
  InterferenceOf(run)[1]->completed_count = 60;
  TestSequenceResults results = ResultsOf({run});
  RpcTimeSeries& series = (*(*results.mutable_test_results(0)
                                  ->mutable_service_logs()
                                  ->mutable_instance_logs())["client/0"]
                                .mutable_rpc_time_series())[0];
  // A series takes the width of the wider one that it is added to.
  RpcTimeSeries wide;
  wide.set_interval_ns(2'000'000'000);
  wide.add_intervals()->set_index(series.intervals(0).index() / 2);
  ASSERT_TRUE(results::MergeTimeSeries(series, wide).ok());
  series = wide;
  CsvRow beside = SecondsCsv(results).at(5);
  EXPECT_EQ(beside["duration_s"], "2");
  EXPECT_EQ(beside["phase"], "interference");
  EXPECT_EQ(beside["antagonist_completed_per_second"], "30");
}

TEST(ProtectionTableTest, FailedSecondsAreNamed) {
  ExampleRun run = SteadyRun(10, 1'000'000);
  InterferenceOf(run)[0]->latency_ns.clear();
  CsvRow silent = SecondsCsv(ResultsOf({run})).at(10);
  EXPECT_EQ(silent["p50_ns"], "");
  EXPECT_EQ(silent["lat_imp_p50"], "");
  EXPECT_EQ(silent["failed_above_percent"], "50");
  EXPECT_EQ(silent["isol"], "0");
  CsvRow cell = CellsCsv(ResultsOf({run})).at(0);
  EXPECT_EQ(cell["lat_imp_p50_max"], "");
  EXPECT_EQ(cell["lat_imp_p50_failed_above_percent"], "90");
  EXPECT_EQ(cell["lat_imp_p50_mean"], "0");
}

TEST(ProtectionTableTest, ManageWithNothing) {
  for (const TestSequenceResults& results :
       {TestSequenceResults(), ResultsOf({})}) {
    EXPECT_TRUE(CellsCsv(results).empty());
    EXPECT_TRUE(SecondsCsv(results).empty());
  }
}

using Json = nlohmann::json;

Json Experiments(const TestSequenceResults& results,
                 const report::JsonLimits& limits = {}) {
  const std::vector<report::SourcedResults> sourced = {{"file.pb", results}};
  return Json::parse(
      report::RenderJson(report::InputOf(sourced), limits))["experiments"];
}

TEST(JsonProtectionTest, HasEachExperimentWithItsCells) {
  const Json experiments = Experiments(MakeExampleExperiment());
  ASSERT_EQ(experiments.size(), 1);
  const Json& experiment = experiments[0];
  EXPECT_EQ(experiment["source"], "file.pb");
  EXPECT_EQ(experiment["rpc"], "query");
  EXPECT_EQ(experiment["capacity_per_second"], 125);
  EXPECT_TRUE(experiment["problem"].is_null());
  EXPECT_EQ(experiment["omissions"].size(), 1);
  ASSERT_EQ(experiment["cells"].size(), 6);
  const Json& hog = experiment["cells"][1];
  EXPECT_EQ(hog["antagonist"], "hog");
  EXPECT_DOUBLE_EQ(hog["mean_isol"], 0.51);
  EXPECT_EQ(hog["lat_imp_failed_seconds"], 0);
  ASSERT_EQ(hog["work"].size(), 3);
  EXPECT_EQ(hog["work"][0]["resource"], "cpu_time");
  EXPECT_TRUE(hog["work"][0]["work_csv"].is_number());
  EXPECT_EQ(hog["work"][2]["reason"], "the subject alone did not use it");
  EXPECT_EQ(hog["antagonist_files"]["reads"]["seconds"], 30);
  EXPECT_TRUE(hog["subject_files"]["reads"].is_null());
}

TEST(JsonProtectionTest, RunsReferToTheirTests) {
  const TestSequenceResults results = MakeExampleExperiment();
  const Json experiments = Experiments(results);
  for (const Json& cell : experiments[0]["cells"]) {
    ASSERT_EQ(cell["by_run"].size(), 3);
    for (const Json& run : cell["by_run"]) {
      const ExperimentCell& labelled =
          results.test_results(run["test"].get<int>()).experiment_cell();
      EXPECT_EQ(labelled.controls(), cell["controls"].get<std::string>());
      EXPECT_EQ(labelled.antagonist(), cell["antagonist"].get<std::string>());
      EXPECT_EQ(labelled.repetition(), run["repetition"].get<int>());
      EXPECT_EQ(run["baseline"]["goodput_per_second"], 100);
      EXPECT_EQ(run["baseline"]["p95_ns"], 1'000'000);
    }
  }
}

TEST(JsonProtectionTest, RowsOfSecondsHaveALimit) {
  const Json experiments =
      Experiments(MakeExampleExperiment(), {.max_part_rows = 7});
  const Json& seconds = experiments[0]["seconds"];
  EXPECT_EQ(seconds["rows"].size(), 7);
  EXPECT_EQ(seconds["rows_left_out"], 6 * 3 * 30 - 7);
  EXPECT_EQ(seconds["rows"][0].size(), seconds["columns"].size());
}

TEST(JsonProtectionTest, RunsWithoutMeasuresSayWhy) {
  const Json experiments = Experiments(ResultsOf({SteadyRun(0, 0)}));
  const Json& cell = experiments[0]["cells"][0];
  EXPECT_TRUE(cell["mean_isol"].is_null());
  EXPECT_EQ(cell["measured_runs"], 0);
  EXPECT_TRUE(cell["by_run"][0]["baseline"].is_null());
  EXPECT_TRUE(cell["by_run"][0]["problem"].is_string());
}

TEST(JsonProtectionTest, NotesSayWhatMakesFiguresDoubtful) {
  ExampleRun run = SteadyRun(100, 1'000'000);
  for (ExampleSecond& second : run.seconds) second.failed_count = 25;
  TestSequenceResults results = ResultsOf({run});
  results.mutable_experiments(0)
      ->mutable_experiment()
      ->add_antagonists()
      ->set_name("hog");
  const Json experiment = Experiments(results)[0];
  ASSERT_EQ(experiment["notes"].size(), 1);
  EXPECT_THAT(experiment["notes"][0].get<std::string>(),
              HasSubstr("missing are (hog alone) in repetition 1"));
  const Json& cell = experiment["cells"][0];
  ASSERT_EQ(cell["notes"].size(), 1);
  EXPECT_THAT(cell["notes"][0].get<std::string>(),
              HasSubstr("the antagonist completed nothing"));
  const Json& measured = cell["by_run"][0];
  EXPECT_EQ(measured["notes"].size(), 2);
  EXPECT_EQ(measured["baseline"]["served"], 0.8);
  EXPECT_EQ(measured["baseline"]["seconds"], 10);
  EXPECT_EQ(measured["baseline"]["silent_seconds"], 0);
}

TEST(JsonProtectionTest, ResultsWithoutExperimentsHaveNone) {
  EXPECT_EQ(Experiments(TestSequenceResults()), Json::array());
}

}  // namespace
}  // namespace distbench::protection
