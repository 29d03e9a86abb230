#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "distbench/products/protection/measures/testing/example_experiment.h"
#include "distbench/report/json/json.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::HasSubstr;

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
