// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Measures what a service keeps beside its neighbours.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/bench/block_devices/host_system.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/products/bench/kinds/job_cluster.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "distbench/products/bench/kinds/searching_jobs.h"
#include "distbench/products/bench/kinds/tests_of_job.h"
#include "distbench/products/bench/kinds/values.h"
#include "distbench/products/bench/storage_sizing/storage_probe.h"
#include "distbench/products/protection/experiment/services.h"
#include "distbench/products/protection/experiment_display.h"
#include "distbench/products/protection/experiment_plan.h"
#include "distbench/products/protection/experiment_searches.h"
#include "distbench/products/protection/measures/phases.h"
#include "distbench/products/protection/report/protection_text.h"
#include "distbench/products/protection/runner.h"
#include "distbench/products/search/runners.h"
#include "distbench/products/search/strategy/load_search.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/measurements/run_outcome.h"

namespace distbench::bench {
namespace {

constexpr char kInfile[] = "infile";

// The seed of an experiment of which nothing has been run: that of the property
// or of the test. Fixed by default, so that jobs of a file are alike.
uint64_t SeedOf(const PropertyValues& values,
                const DistributedSystemDescription& test) {
  if (const auto seed = values.Count("seed")) return *seed;
  return test.has_random_seed() ? test.random_seed() : 1;
}

void TakeAll(const BenchJob& from, BenchJob& job) {
  for (const BenchValue& value : from.outcome()) {
    AddTaken(from, value, *job.mutable_parameters());
  }
}

// A storage service gets the sizes that were found for it.
void UseSizes(absl::Span<const BenchJob* const> earlier,
              DistributedSystemDescription& test, BenchJob& job) {
  const BenchJob* from = NearestOf("hashd-params", earlier);
  if (from == nullptr || !CheckSizable(test).ok()) return;
  const StorageSizes sizes = StorageSizesFrom(from->outcome());
  test = WithSizes(std::move(test), sizes);
  ExperimentSubject& subject = *test.mutable_experiment()->mutable_subject();
  if (sizes.max_rate.has_value() && !subject.has_capacity()) {
    subject.set_capacity(absl::StrFormat("%.6f/s", *sizes.max_rate));
  }
  TakeAll(*from, job);
}

// The capacity that a search found, if loads are shares of an unknown one.
absl::Status UseCapacity(absl::Span<const BenchJob* const> earlier,
                         DistributedSystemDescription& test, BenchJob& job) {
  const BenchJob* from = SearchOf(earlier, job);
  if (from == nullptr || test.experiment().subject().has_capacity()) {
    return absl::OkStatus();
  }
  const absl::StatusOr<protection::ExperimentPlan> plan =
      protection::PlanExperiment(test, {});
  if (!plan.ok()) return plan.status();
  if (!protection::NeedsCapacity(*plan) || plan->own_rate <= 0)
    return absl::OkStatus();
  if (FindText(from->outcome(), kVerdict) ==
      search::ToString(search::SearchVerdict::kUpperBoundHit)) {
    AddOnce(absl::StrCat(
                "the capacity is what ", JobTitle(from->kind(), from->id()),
                " tried at most: the subject may carry more; give that "
                "job a larger max_load="),
            job);
  }
  const double factor = *FindNumber(from->outcome(), kRateFactor);
  test.mutable_experiment()->mutable_subject()->set_capacity(
      absl::StrFormat("%.6f/s", factor * plan->own_rate));
  TakeAll(*from, job);
  return absl::OkStatus();
}

void UseProperties(const PropertyValues& values,
                   DistributedSystemDescription& test) {
  Experiment& experiment = *test.mutable_experiment();
  if (const auto count = values.Count("repetitions")) {
    experiment.set_repeat(*count);
  }
  if (const std::string load = values.Text("load"); !load.empty()) {
    experiment.mutable_subject()->clear_loads();
    experiment.mutable_subject()->add_loads(load);
  }
  if (const std::string capacity = values.Text("capacity"); !capacity.empty()) {
    experiment.mutable_subject()->set_capacity(capacity);
  }
}

std::string TextOr(const PropertyValues& values, const char* name,
                   const char* otherwise) {
  const std::string text = values.Text(name);
  return text.empty() ? otherwise : text;
}

MemoryHogOptions HogOptionsOf(const PropertyValues& values,
                              const JobEnvironment& environment) {
  MemoryHogOptions options;
  options.objective = TextOr(values, "slo", "p95<=75ms");
  options.load = TextOr(values, "load", "80%");
  options.interfere = TextOr(values, "interfere", "60s");
  options.stabilise = TextOr(values, "stabilise", "60s");
  options.repetitions = values.Count("repetitions").value_or(1);
  options.hog_bytes =
      values.Size("hog_size")
          .value_or(ReadHostSystem(environment.host_root).memory_bytes());
  return options;
}

// Properties of the built-in experiment, which do not change others.
absl::Status CheckBuiltInOnly(const PropertyValues& values) {
  for (const char* name : {"slo", "interfere", "stabilise", "hog_size"}) {
    if (values.Text(name).empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        name,
        "= is about the built-in experiment, and this test has its own; "
        "change the test"));
  }
  return absl::OkStatus();
}

// The experiment of the job: the test's, or the built-in one.
void AddExperiment(const PropertyValues& values,
                   const JobEnvironment& environment,
                   DistributedSystemDescription& test) {
  if (!test.has_experiment()) {
    AddMemoryHog(HogOptionsOf(values, environment), test);
  }
  UseProperties(values, test);
}

// Nodes for the senders of an incast are added to those of the subject.
TestSequence WithSenders(const DistributedSystemDescription& test) {
  int senders = 0;
  for (const Antagonist& antagonist : test.experiment().antagonists()) {
    if (!protection::IsIncast(antagonist)) continue;
    senders = std::max(senders, antagonist.senders());
  }
  TestSequence tests;
  *tests.add_tests() = test;
  if (senders > 0) {
    ServiceSpec& service = *tests.mutable_tests(0)->add_services();
    service.set_name("senders");
    service.set_count(senders);
  }
  return tests;
}

protection::ExperimentCallbacks CallbacksOf(
    const JobRun& run, client::TestClient& client,
    protection::ExperimentDisplay& display) {
  protection::ExperimentCallbacks callbacks;
  callbacks.run = search::RunOnSequencer(client);
  callbacks.announce = [&](const protection::CellRun& cell) {
    display.Announce(cell);
  };
  callbacks.observe = [&](const protection::CellRun& cell,
                          protection::CellOutcome outcome,
                          const std::string& evidence) {
    display.Observe(cell, outcome, evidence);
  };
  callbacks.progress = run.environment.progress;
  callbacks.search.progress = run.environment.progress;
  callbacks.save = [&run](const TestSequenceResults&) { return run.save(); };
  return callbacks;
}

class ProtectionJob final : public JobKind {
 public:
  const JobDeclaration& declaration() const override {
    static const auto& declaration = *new JobDeclaration{
        "protection",
        "Measures what a service keeps beside noisy neighbours",
        {{kInfile, PropertyType::kText,
          "A test with an experiment; excludes pattern"},
         {"pattern", PropertyType::kText,
          "The test in test_builder's syntax; default: storage_service"},
         {"load", PropertyType::kText,
          "The subject's load, such as 200/s or 80%"},
         {"capacity", PropertyType::kText,
          "The subject's capacity, such as 1000/s; default: what an earlier "
          "job found"},
         {"repetitions", PropertyType::kCount, "Runs of each cell"},
         {"seed", PropertyType::kCount, "Of the order and the traffic"},
         {"slo", PropertyType::kText,
          "Objective of a test without an experiment; default: p95<=75ms"},
         {"hog_size", PropertyType::kSize,
          "Memory of the built-in neighbour; default: the host's"},
         {"stabilise", PropertyType::kText,
          "Longest time before its measurement; default: 60s"},
         {"interfere", PropertyType::kText,
          "Time of the built-in neighbour; default: 60s"}}};
    return declaration;
  }

  absl::StatusOr<TestSequence> Prepare(
      const PropertyValues& values,
      const JobEnvironment& environment) const override {
    absl::StatusOr<DistributedSystemDescription> test =
        SubjectOf(values, environment);
    if (!test.ok()) return test.status();
    if (test->has_experiment()) {
      const absl::Status status = CheckBuiltInOnly(values);
      if (!status.ok()) return status;
    }
    TestSequence tests;
    *tests.add_tests() = *test;
    AddExperiment(values, environment, *test);
    TestSequence complete;
    *complete.add_tests() = *std::move(test);
    const absl::StatusOr<TestSequence> checked =
        config::CheckTestSequence(std::move(complete));
    if (!checked.ok()) return checked.status();
    const absl::Status plan =
        protection::PlanExperiment(checked->tests(0), {}).status();
    if (!plan.ok()) return plan;
    return tests;
  }

  bool StartsAnew() const override { return false; }

  absl::Status Run(const JobRun& run) const override {
    const absl::StatusOr<DistributedSystemDescription> test = TestOf(run);
    if (!test.ok()) return test.status();
    const absl::StatusOr<std::unique_ptr<JobCluster>> cluster =
        JobCluster::Start(run.environment, WithSenders(*test));
    if (!cluster.ok()) return cluster.status();
    client::TestClient& client = (*cluster)->client();
    TestSequenceResults& results = *run.job.mutable_results();
    const absl::StatusOr<protection::ExperimentPlan> plan =
        protection::PlanOnSequencer(*test, SeedOf(run.values, *test), results,
                                    client);
    if (!plan.ok()) return plan.status();
    protection::ExperimentDisplay display([&](absl::string_view lines) {
      run.environment.say(std::string(absl::StripSuffix(lines, "\n")));
    });
    display.ShowPlan(*plan, results);
    const absl::Status status = protection::RunExperiment(
        *plan, CallbacksOf(run, client, display), results);
    DescribeSystems(run.environment, run.job);
    if (run.values.Text(kInfile).empty()) AddStorageRequirements(run.job);
    return status;
  }

  // Measures are computed by the report, from the records of the cells.
  absl::Status Study(BenchJob& job) const override {
    const TestSequenceResults& results = job.results();
    if (results.experiments().empty()) {
      return absl::InvalidArgumentError("no cell was run");
    }
    const ExperimentReport& report = results.experiments(0);
    if (const std::vector<std::string> cells =
            protection::WithoutFigures(results);
        !cells.empty()) {
      return absl::AbortedError(absl::StrCat("cells could not be measured: ",
                                             absl::StrJoin(cells, " ")));
    }
    job.clear_outcome();
    if (report.capacity_per_second() > 0) {
      AddNumber("capacity_per_second", report.capacity_per_second(),
                *job.mutable_outcome());
    }
    for (const TestResult& result : results.test_results()) {
      if (!result.has_experiment_cell()) continue;
      const ExperimentCell& cell = result.experiment_cell();
      if (protection::IsAntagonistAlone(cell) &&
          report::OutcomeOf(result) != report::RunOutcome::kMeasured) {
        AddOnce(absl::StrCat("a run of antagonist ", cell.antagonist(),
                             " alone failed or is invalid: comparisons with it "
                             "are not to be trusted"),
                job);
      }
      // Beside an antagonist, a failure of the subject is a measurement.
      if (!protection::IsFalseBaseline(result)) continue;
      return absl::AbortedError(
          "a run without an antagonist failed or is invalid: the baseline is "
          "not to be trusted");
    }
    job.set_exit_code(report::kExitOk);
    return absl::OkStatus();
  }

  std::string ResultText(const BenchJob& job) const override {
    return protection::ProtectionText(job.results());
  }

 private:
  // The test with everything that earlier jobs found for it.
  static absl::StatusOr<DistributedSystemDescription> TestOf(
      const JobRun& run) {
    TestSequence given = run.job.tests();
    AddExperiment(run.values, run.environment, *given.mutable_tests(0));
    absl::StatusOr<TestSequence> tests = AdaptedTests(std::move(given), run);
    if (!tests.ok()) return tests.status();
    DistributedSystemDescription& test = *tests->mutable_tests(0);
    if (run.environment.test_sequencer.empty()) ShareNode(test);
    UseSizes(run.earlier, test, run.job);
    absl::Status status = UseCapacity(run.earlier, test, run.job);
    if (!status.ok()) return status;
    tests = config::CheckTestSequence(*std::move(tests));
    if (!tests.ok()) return tests.status();
    status = TieRecordsTo(*tests, run);
    if (!status.ok()) return status;
    return std::move(*tests->mutable_tests(0));
  }
};

}  // namespace

const JobKind& ProtectionKind() {
  static const ProtectionJob& kind = *new ProtectionJob();
  return kind;
}

}  // namespace distbench::bench
