#include "distbench/products/protection/report/protection_table.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/products/protection/measures/testing/example_experiment.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/results/time_series.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using CsvRow = std::map<std::string, std::string>;

// The rows, keyed by column. The example has no cells that need quotes.
std::vector<CsvRow> Csv(const TestSequenceResults& results,
                        const ProtectionTable& table) {
  const std::vector<report::SourcedResults> sourced = {{"file.pb", results}};
  std::string csv;
  RenderProtectionCsv(
      report::ListRuns(sourced), table,
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

TEST(ProtectionTableTest, HasARowPerCell) {
  const std::vector<CsvRow> rows =
      Csv(MakeExampleExperiment(), ProtectionCellsTable());
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
  const std::vector<CsvRow> rows =
      Csv(MakeExampleExperiment(), ProtectionSecondsTable());
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
  ASSERT_TRUE(results::WidenTimeSeries(2'000'000'000, series));
  CsvRow beside = Csv(results, ProtectionSecondsTable()).at(5);
  EXPECT_EQ(beside["duration_s"], "2");
  EXPECT_EQ(beside["phase"], "interference");
  EXPECT_EQ(beside["antagonist_completed_per_second"], "30");
}

TEST(ProtectionTableTest, FailedSecondsAreNamed) {
  ExampleRun run = SteadyRun(10, 1'000'000);
  InterferenceOf(run)[0]->latency_ns.clear();
  CsvRow silent = Csv(ResultsOf({run}), ProtectionSecondsTable()).at(10);
  EXPECT_EQ(silent["p50_ns"], "failed");
  EXPECT_EQ(silent["lat_imp_p50"], "failed");
  EXPECT_EQ(silent["isol"], "0");
  CsvRow cell = Csv(ResultsOf({run}), ProtectionCellsTable()).at(0);
  EXPECT_EQ(cell["lat_imp_p50_max"], "failed");
  EXPECT_EQ(cell["lat_imp_p50_mean"], "0");
}

TEST(ProtectionTableTest, ManageWithNothing) {
  for (const ProtectionTable* table :
       {&ProtectionCellsTable(), &ProtectionSecondsTable()}) {
    EXPECT_TRUE(Csv(TestSequenceResults(), *table).empty());
    EXPECT_TRUE(Csv(ResultsOf({}), *table).empty());
  }
}

}  // namespace
}  // namespace distbench::protection
