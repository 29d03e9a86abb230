// Runs the tests of a config.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/bench/kinds/job_cluster.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "distbench/products/bench/kinds/tests_of_job.h"
#include "distbench/products/bench/kinds/values.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/objectives/check_objectives.h"
#include "distbench/report/text/text_summary.h"
#include "distbench/report/verdicts/check.h"

namespace distbench::bench {
namespace {

// A run that failed says nothing about its tests.
absl::Status CheckResults(const TestSequenceResults& results) {
  for (const TestResult& result : results.test_results()) {
    const std::string& name = result.traffic_config().name();
    if (result.run_info().has_failure()) {
      return absl::AbortedError(absl::StrCat(
          "test \"", name, "\" failed: ", result.run_info().failure()));
    }
    if (report::IsInvalid(result)) {
      return absl::AbortedError(
          absl::StrCat("test \"", name,
                       "\" is invalid: its numbers are false; see the findings "
                       "of distbench bench format"));
    }
  }
  return absl::OkStatus();
}

void AddFindings(TestResult& result) {
  for (Finding& finding : report::Judge(result)) {
    *result.mutable_run_info()->add_findings() = std::move(finding);
  }
}

class RunTestsJob final : public JobKind {
 public:
  const JobDeclaration& declaration() const override {
    static const auto& declaration = *new JobDeclaration{
        "run",
        "Runs the tests of a config, as run_tests does",
        {{"infile", PropertyType::kText, "The config", "", true},
         {"slo", PropertyType::kText,
          "An objective of each test, such as 'query p99<=5ms'"}}};
    return declaration;
  }

  absl::StatusOr<TestSequence> Prepare(
      const PropertyValues& values,
      const JobEnvironment& environment) const override {
    absl::StatusOr<TestSequence> tests =
        environment.load_tests(values.Text("infile"));
    const std::string objective = values.Text("slo");
    if (!tests.ok() || objective.empty()) return tests;
    const absl::StatusOr<config::Objective> parsed =
        config::ParseObjective(objective);
    if (!parsed.ok()) return parsed.status();
    for (DistributedSystemDescription& test : *tests->mutable_tests()) {
      test.add_objectives(objective);
    }
    return config::CheckTestSequence(*std::move(tests));
  }

  absl::Status Run(const JobRun& run) const override {
    const absl::StatusOr<TestSequence> tests =
        AdaptedTests(run.job.tests(), run);
    if (!tests.ok()) return tests.status();
    const absl::StatusOr<std::unique_ptr<JobCluster>> cluster =
        JobCluster::Start(run.environment, *tests);
    if (!cluster.ok()) return cluster.status();
    TestSequenceResults& results = *run.job.mutable_results();
    absl::Status saved;
    const absl::Status status = (*cluster)->client().RunTests(
        *tests,
        [&](const RunTestsEvent& event) {
          run.environment.progress(event);
          // What a test measured is safe once it has ended.
          if (event.has_finished() && saved.ok()) saved = run.save();
        },
        results);
    DescribeSystems(run.environment, run.job);
    if (!status.ok()) return status;
    return saved.ok() ? CheckResults(results) : saved;
  }

  absl::Status Study(BenchJob& job) const override {
    bool all_met = true;
    job.clear_outcome();
    for (TestResult& result : *job.mutable_results()->mutable_test_results()) {
      // A test that failed early has nothing to judge.
      if (result.has_service_logs()) AddFindings(result);
      result.clear_log_summary();
      for (std::string& line : report::SummarizeTest(result)) {
        result.add_log_summary(std::move(line));
      }
      all_met &= report::AllPass(report::CheckObjectives(result),
                                 /*allow_undecided=*/false);
    }
    job.set_exit_code(all_met ? report::kExitOk : report::kExitGateNotMet);
    return CheckResults(job.results());
  }

  std::string ResultText(const BenchJob& job) const override {
    std::string text;
    for (const TestResult& result : job.results().test_results()) {
      absl::StrAppend(&text, "Test ", result.traffic_config().name(), ":\n",
                      absl::StrJoin(result.log_summary(), "\n"), "\n",
                      report::ChecksText(report::CheckObjectives(result)));
    }
    return text;
  }
};

}  // namespace

const JobKind& RunKind() {
  static const RunTestsJob& kind = *new RunTestsJob();
  return kind;
}

}  // namespace distbench::bench
