// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs the tests of a config.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/client/test_client.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/bench/kinds/job_cluster.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "distbench/products/bench/kinds/tests_of_job.h"
#include "distbench/products/bench/kinds/values.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/objectives/objectives.h"
#include "distbench/report/text/text_summary.h"
#include "distbench/report/verdicts/check.h"

namespace distbench::bench {
namespace {

// A run that failed says nothing about its tests.
absl::Status CheckResults(const TestSequenceResults& results) {
  for (const TestResult& result : results.test_results()) {
    const std::string why = report::WhyNotMeasured(result);
    if (why.empty()) continue;
    return absl::AbortedError(
        absl::StrCat("test \"", result.traffic_config().name(), "\" ", why));
  }
  return absl::OkStatus();
}

// "query: rate 13570, p50 7.3 ms, p99 9.1 ms": what is left out was not
// measured.
std::string RpcSummary(const report::RpcMeasurements& rpc) {
  using Kind = stats::Metric::Kind;
  std::vector<std::string> values;
  for (const stats::Metric& metric :
       {stats::Metric{Kind::kRate}, stats::Metric{Kind::kPercentile, 50},
        stats::Metric{Kind::kPercentile, 99}}) {
    const absl::StatusOr<report::Estimate> estimate =
        report::Measure(metric, rpc, rpc.latency_kind());
    if (!estimate.ok()) continue;
    values.push_back(report::EstimateText(metric, *estimate));
  }
  return absl::StrCat(
      rpc.name, ": ",
      values.empty() ? "nothing was measured" : absl::StrJoin(values, ", "));
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

  bool StartsAnew() const override { return false; }

  absl::Status Run(const JobRun& run) const override {
    const absl::StatusOr<TestSequence> tests =
        AdaptedTests(run.job.tests(), run);
    if (!tests.ok()) return tests.status();
    if (absl::Status tied = TieRecordsTo(*tests, run); !tied.ok()) {
      return tied;
    }
    const std::vector<int> places = UnmeasuredTests(*tests, run.job.results());
    if (places.empty()) return CheckResults(run.job.results());
    TestSequence unmeasured;
    for (const int place : places) {
      *unmeasured.add_tests() = tests->tests(place);
    }
    const absl::StatusOr<std::unique_ptr<JobCluster>> cluster =
        JobCluster::Start(run.environment, *tests);
    if (!cluster.ok()) return cluster.status();
    const absl::Status status =
        RunAll(run, unmeasured, places, (*cluster)->client());
    DescribeSystems(run.environment, run.job);
    return status.ok() ? CheckResults(run.job.results()) : status;
  }

  absl::Status Study(BenchJob& job) const override {
    bool all_met = true;
    job.clear_outcome();
    for (TestResult& result : *job.mutable_results()->mutable_test_results()) {
      // A test that failed early has nothing to judge.
      if (result.has_service_logs()) report::JudgeAgain(result);
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

  // A line for each RPC of a test, and for each objective.
  std::string Summary(const BenchJob& job) const override {
    std::vector<std::string> lines;
    for (const TestResult& result : job.results().test_results()) {
      const std::string& name = result.traffic_config().name();
      report::ForEachRpc(
          result, /*max_intervals=*/1, [&](const report::RpcMeasurements& rpc) {
            lines.push_back(absl::StrCat(name, ": ", RpcSummary(rpc)));
          });
      for (const report::Check& check : report::CheckObjectives(result)) {
        lines.push_back(absl::StrCat(name, ": ",
                                     report::VerdictName(check.verdict), ": ",
                                     check.condition, ": ", check.evidence));
      }
    }
    return absl::StrJoin(lines, "\n");
  }

 private:
  // Runs tests whose results have these places.
  static absl::Status RunAll(const JobRun& run, const TestSequence& tests,
                             const std::vector<int>& places,
                             client::TestClient& client) {
    TestSequenceResults found;
    size_t kept = 0;
    absl::Status saved;
    const auto keep = [&] {
      for (; kept < static_cast<size_t>(found.test_results_size()); ++kept) {
        PutResult(places[kept], std::move(*found.mutable_test_results(kept)),
                  *run.job.mutable_results());
      }
    };
    const absl::Status status = client.RunTests(
        tests,
        [&](const RunTestsEvent& event) {
          run.environment.progress(event);
          if (!event.has_finished()) return;
          // What a test measured is safe once it has ended.
          keep();
          if (!saved.ok()) return;
          saved = run.save();
          // What further tests measure would be lost.
          if (!saved.ok()) client.AbandonRun();
        },
        found);
    keep();
    return saved.ok() ? status : saved;
  }
};

}  // namespace

const JobKind& RunKind() {
  static const RunTestsJob& kind = *new RunTestsJob();
  return kind;
}

}  // namespace distbench::bench
