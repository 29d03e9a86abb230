// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Compares deployments of a test on this host's NUMA nodes.

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/numa/topology.h"
#include "distbench/products/bench/block_devices/host_system.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "distbench/products/bench/kinds/searching_jobs.h"
#include "distbench/products/bench/kinds/tests_of_job.h"
#include "distbench/products/numa_compare/numa_compare.h"
#include "distbench/products/search/search_plan.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/measurements/run_outcome.h"

namespace distbench::bench {
namespace {

absl::StatusOr<numa_compare::NumaPlan> PlanOf(
    const PropertyValues& values, const DistributedSystemDescription& test,
    const JobEnvironment& environment) {
  return numa_compare::PlanNumaComparison(
      test,
      {.service = values.Text("service"),
       .numa_nodes = values.Text("numa_nodes"),
       .instances = values.Count("instances").value_or(0),
       .workers = values.Count("workers").value_or(0),
       .cpu_percent = *values.Number("cpu"),
       .objective = values.Text("slo"),
       .search = SearchEffortOf(values)},
      numa::ReadHostTopology(environment.host_root));
}

absl::Status CheckSearches(
    const NumaDeployment& deployment,
    const google::protobuf::RepeatedPtrField<SearchReport>& searches) {
  for (const SearchReport& search : searches) {
    if (search.verdict() != numa_compare::kFailedVerdict) continue;
    return absl::AbortedError(absl::StrCat("a search in deployment ",
                                           deployment.name(),
                                           " failed: ", search.evidence()));
  }
  return absl::OkStatus();
}

absl::Status CheckRun(const TestResult& result) {
  if (report::OutcomeOf(result) != report::RunOutcome::kInvalid) {
    return absl::OkStatus();
  }
  return absl::AbortedError(absl::StrCat(
      "a run of test \"", result.traffic_config().name(),
      "\" is invalid, as when a binding did not hold: its numbers are false"));
}

absl::Status CheckRuns(const TestSequenceResults& results) {
  absl::Status status;
  for (const TestResult& result : results.test_results()) {
    status.Update(CheckRun(result));
  }
  return status;
}

// A comparison of which a part is missing or false compares nothing.
absl::Status CheckComparison(const TestSequenceResults& results) {
  if (results.numa_comparison().deployments().empty()) {
    return absl::InvalidArgumentError("no deployment was compared");
  }
  for (const NumaDeployment& deployment :
       results.numa_comparison().deployments()) {
    absl::Status status =
        CheckSearches(deployment, deployment.cpu_target_searches());
    status.Update(CheckSearches(deployment, deployment.objective_searches()));
    if (!status.ok()) return status;
  }
  return CheckRuns(results);
}

class NumaJob final : public JobKind {
 public:
  const JobDeclaration& declaration() const override {
    static const auto& declaration = *new JobDeclaration{
        "numa",
        "Compares deployments on this host's NUMA nodes, as numa_compare does",
        {{"infile", PropertyType::kText, "The config; excludes pattern"},
         {"pattern", PropertyType::kText,
          "The test in test_builder's syntax, such as feed_aggregator:grpc"},
         {"service", PropertyType::kText,
          "Service to deploy in different ways; default: the only server"},
         {"numa_nodes", PropertyType::kText, "NUMA nodes; default: all"},
         {"instances", PropertyType::kCount,
          "Instances in all deployments but the first; default: one per node"},
         {"workers", PropertyType::kCount,
          "Threads of all instances together; default: one per CPU"},
         {"cpu", PropertyType::kNumber,
          "Find the load at which CPUs are this busy, in percent", "60"},
         {"slo", PropertyType::kText,
          "Also find the highest load that meets this objective"},
         {"repetitions", PropertyType::kCount, "Searches of each kind", "3"},
         {"seed", PropertyType::kCount, "Of the order of the searches", "1"},
         {"max_probes", PropertyType::kCount, "Most runs per search", "25"},
         {"tolerance", PropertyType::kNumber, "Precision in percent", "2"},
         {"warmup", PropertyType::kDuration, "Warm-up of each run", "2s"},
         {"probe", PropertyType::kDuration, "Least measured time of each run",
          "10s"},
         {"final", PropertyType::kDuration,
          "Duration of the run that confirms an answer", "60s"}}};
    return declaration;
  }

  absl::StatusOr<TestSequence> Prepare(
      const PropertyValues& values,
      const JobEnvironment& environment) const override {
    absl::StatusOr<TestSequence> tests = OneTest(values, environment);
    if (!tests.ok()) return tests;
    const absl::Status plan =
        PlanOf(values, tests->tests(0), environment).status();
    if (!plan.ok()) return plan;
    return tests;
  }

  bool StartsAnew() const override { return false; }

  absl::Status Run(const JobRun& run) const override {
    const absl::StatusOr<TestSequence> tests =
        AdaptedTests(run.job.tests(), run);
    if (!tests.ok()) return tests.status();
    const absl::StatusOr<numa_compare::NumaPlan> plan =
        PlanOf(run.values, tests->tests(0), run.environment);
    if (!plan.ok()) return plan.status();
    BenchSystem here = ReadHostSystem(run.environment.host_root);
    if (absl::Status tied = TieRecordsTo(*tests, {here.hostname()}, run.job);
        !tied.ok()) {
      return tied;
    }
    run.job.clear_systems();
    *run.job.add_systems() = std::move(here);
    TestSequenceResults& results = *run.job.mutable_results();
    // Of which search a false run is, earlier versions did not keep.
    if (!CheckRuns(results).ok()) results.Clear();
    std::optional<Cancellation::Scope> cancel;
    const numa_compare::CapacitySearch run_search = numa_compare::SearchLocally(
        run.environment.program, run.environment.say,
        [&](std::function<void()> handler) {
          cancel.reset();
          if (handler) {
            cancel.emplace(*run.environment.cancellation, std::move(handler));
          }
        });
    absl::Status saved;
    const absl::Status status = numa_compare::RunNumaComparison(
        *plan, *run.values.Count("repetitions"), *run.values.Count("seed"),
        [&](const numa_compare::PlannedDeployment& deployment,
            const search::SearchPlan& search,
            const std::string& title) -> absl::StatusOr<TestSequenceResults> {
          saved.Update(run.save());
          if (!saved.ok()) return absl::CancelledError(saved.message());
          absl::StatusOr<TestSequenceResults> found =
              run_search(deployment, search, title);
          if (!found.ok() || found->test_results().empty()) return found;
          // A search whose last run is false is made again at the next start.
          absl::Status valid = CheckRun(*found->test_results().rbegin());
          if (!valid.ok()) return valid;
          return found;
        },
        results);
    return saved.ok() ? status : saved;
  }

  absl::Status Study(BenchJob& job) const override {
    const absl::Status status = CheckComparison(job.results());
    if (status.ok()) job.set_exit_code(report::kExitOk);
    return status;
  }

  std::string ResultText(const BenchJob& job) const override {
    return numa_compare::RenderNumaComparison(job.results().numa_comparison());
  }

 private:
  static absl::StatusOr<TestSequence> OneTest(
      const PropertyValues& values, const JobEnvironment& environment) {
    const std::string infile = values.Text("infile");
    const std::string pattern = values.Text("pattern");
    if (infile.empty() == pattern.empty()) {
      return absl::InvalidArgumentError("give either infile= or pattern=");
    }
    if (!infile.empty()) {
      absl::StatusOr<TestSequence> tests = environment.load_tests(infile);
      if (!tests.ok() || tests->tests_size() == 1) return tests;
      return absl::InvalidArgumentError(
          absl::StrCat(infile, " has ", tests->tests_size(),
                       " tests; a comparison needs exactly one"));
    }
    absl::StatusOr<DistributedSystemDescription> test =
        environment.build_test(pattern);
    if (!test.ok()) return test.status();
    TestSequence tests;
    *tests.add_tests() = *std::move(test);
    return tests;
  }
};

}  // namespace

const JobKind& NumaKind() {
  static const NumaJob& kind = *new NumaJob();
  return kind;
}

}  // namespace distbench::bench
