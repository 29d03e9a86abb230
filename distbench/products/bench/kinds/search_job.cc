// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Searches for the highest load that meets an objective.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/products/bench/kinds/job_cluster.h"
#include "distbench/products/bench/kinds/job_kind.h"
#include "distbench/products/bench/kinds/searching_jobs.h"
#include "distbench/products/bench/kinds/tests_of_job.h"
#include "distbench/products/bench/kinds/values.h"
#include "distbench/products/search/report/search_text.h"
#include "distbench/products/search/runners.h"
#include "distbench/products/search/search_plan.h"
#include "distbench/products/search/search_run.h"
#include "distbench/products/search/strategy/load_search.h"
#include "distbench/products/search/system_copies.h"

namespace distbench::bench {
namespace {

constexpr char kBaseLoad[] = "base_load";
constexpr char kAutomatic[] = "auto";
constexpr int kMaxInstances = 1000;

LoadSearchSpec SpecOf(const PropertyValues& values) {
  LoadSearchSpec spec = SearchEffortOf(values);
  if (const std::string slo = values.Text("slo"); !slo.empty()) {
    spec.add_objectives(slo);
  }
  if (const std::string knob = values.Text("knob"); !knob.empty()) {
    spec.set_knob(knob);
  }
  if (const auto load = values.Number("max_load")) spec.set_max_load(*load);
  if (const auto load = values.Number("min_load")) spec.set_min_load(*load);
  return spec;
}

// "100+200": the loads to run instead of searching.
absl::StatusOr<std::vector<double>> LoadsOf(const PropertyValues& values) {
  std::vector<double> loads;
  const std::string text = values.Text("loads");
  if (text.empty()) return loads;
  for (const absl::string_view part : absl::StrSplit(text, '+')) {
    double load = 0;
    if (!absl::SimpleAtod(part, &load) || !(load > 0) ||
        load > search::kMaxSearchLoad) {
      return absl::InvalidArgumentError(absl::StrCat(
          "loads=", config::Quoted(text), ": ", config::Quoted(part),
          " is not a load; write positive numbers with '+' "
          "between them"));
    }
    loads.push_back(load);
  }
  return loads;
}

absl::StatusOr<search::SearchPlan> PlanOf(const PropertyValues& values,
                                          const TestSequence& tests,
                                          int instances) {
  if (tests.tests_size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(values.Text("infile"), " has ", tests.tests_size(),
                     " tests; a search needs exactly one"));
  }
  absl::StatusOr<std::vector<double>> loads = LoadsOf(values);
  if (!loads.ok()) return loads.status();
  absl::StatusOr<search::SearchPlan> plan =
      search::PlanSearch(SpecOf(values), tests.tests(0), instances);
  if (!plan.ok()) return plan;
  const absl::Status list = search::RunLoads(*std::move(loads), *plan);
  if (!list.ok()) return list;
  return plan;
}

// Copies of the system; 1 stands for "auto", which only a cluster knows.
absl::StatusOr<int> GivenInstances(const PropertyValues& values) {
  const std::string text = values.Text("instances");
  int count = 1;
  if (text == kAutomatic) return count;
  if (absl::SimpleAtoi(text, &count) && count >= 1 && count <= kMaxInstances) {
    return count;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("instances=", config::Quoted(text), " is wrong; it must be ",
                   kAutomatic, " or a number from 1 to ", kMaxInstances));
}

struct Copies {
  int count = 1;
  std::vector<std::string> cpu_slices;  // empty: they share the CPUs
};

// Automatic copies on one host have slices of it, as with `distbench search`.
absl::StatusOr<Copies> CopiesOf(const JobRun& run, const TestSequence& tests) {
  absl::StatusOr<int> count = GivenInstances(run.values);
  if (!count.ok()) return count.status();
  if (run.values.Text("instances") != kAutomatic)
    return Copies{.count = *count, .cpu_slices = {}};
  const absl::StatusOr<std::unique_ptr<JobCluster>> cluster =
      JobCluster::Start(run.environment, tests);
  if (!cluster.ok()) return cluster.status();
  const absl::StatusOr<GetStatusResponse> status =
      (*cluster)->client().GetStatus();
  if (!status.ok()) return status.status();
  count = search::InstanceCountFor(*status);
  if (!count.ok()) return count.status();
  if (*count == 1 || !search::IsOneHost(*status))
    return Copies{.count = *count, .cpu_slices = {}};
  absl::StatusOr<std::vector<std::string>> slices =
      search::SliceHost(*status, *count);
  if (!slices.ok()) return slices.status();
  return Copies{*count, *std::move(slices)};
}

// The test of a probe, for the number of nodes that it needs.
absl::StatusOr<TestSequence> ProbesOf(const search::SearchPlan& plan) {
  const double load =
      plan.loads.empty() ? plan.options.initial_load : plan.loads.front();
  absl::StatusOr<DistributedSystemDescription> test = search::ProbeTest(
      plan, load,
      {.warmup = plan.timing.warmup, .measured = plan.timing.probe});
  if (!test.ok()) return test.status();
  TestSequence tests;
  *tests.add_tests() = *std::move(test);
  return tests;
}

// Whether the load is the most that one system carries: fixed loads were only
// tried, and copies share their hosts.
bool IsOfOneSystem(const SearchReport& report) {
  if (report.verdict() != search::ToString(search::SearchVerdict::kConverged) &&
      report.verdict() !=
          search::ToString(search::SearchVerdict::kUpperBoundHit)) {
    return false;
  }
  for (const SearchProbe& probe : report.probes()) {
    if (probe.instance_statistics_size() > 1) return false;
  }
  return true;
}

class SearchJob final : public JobKind {
 public:
  const JobDeclaration& declaration() const override {
    static const auto& declaration = *new JobDeclaration{
        "search",
        "Finds the highest load that meets an objective, as search does",
        {{"infile", PropertyType::kText, "The config", "", true},
         {"slo", PropertyType::kText,
          "The objective; default: those of the test's search"},
         {"knob", PropertyType::kText, "What to vary; default: rate"},
         {"loads", PropertyType::kText,
          "Run these loads, joined by '+', instead of searching"},
         {"instances", PropertyType::kText,
          "Copies of the system side by side; auto: one per 100 CPUs", "1"},
         {"min_load", PropertyType::kNumber, "Lowest load"},
         {"max_load", PropertyType::kNumber, "Highest load"},
         {"tolerance", PropertyType::kNumber, "Precision in percent"},
         {"max_probes", PropertyType::kCount, "Most runs"},
         {"warmup", PropertyType::kDuration, "Warm-up of each run"},
         {"probe", PropertyType::kDuration, "Least measured time of each run"},
         {"final", PropertyType::kDuration,
          "Duration of the run that confirms the answer"}}};
    return declaration;
  }

  absl::StatusOr<TestSequence> Prepare(
      const PropertyValues& values,
      const JobEnvironment& environment) const override {
    absl::StatusOr<TestSequence> tests =
        environment.load_tests(values.Text("infile"));
    if (!tests.ok()) return tests;
    const absl::StatusOr<int> instances = GivenInstances(values);
    if (!instances.ok()) return instances.status();
    const absl::Status plan = PlanOf(values, *tests, *instances).status();
    if (!plan.ok()) return plan;
    return tests;
  }

  bool StartsAnew() const override { return false; }

  absl::Status Run(const JobRun& run) const override {
    const absl::StatusOr<TestSequence> tests =
        AdaptedTests(run.job.tests(), run);
    if (!tests.ok()) return tests.status();
    if (absl::Status tied = TieRecordsTo(*tests, run); !tied.ok()) {
      return tied;
    }
    const absl::StatusOr<Copies> copies = CopiesOf(run, *tests);
    if (!copies.ok()) return copies.status();
    absl::StatusOr<search::SearchPlan> plan =
        PlanOf(run.values, *tests, copies->count);
    if (!plan.ok()) return plan.status();
    plan->cpu_slices = copies->cpu_slices;
    const absl::StatusOr<TestSequence> probes = ProbesOf(*plan);
    if (!probes.ok()) return probes.status();
    // The load of the config as it is, with which an answer is compared.
    AddNumber(kBaseLoad, plan->knob->base_load(),
              *run.job.mutable_parameters());
    const absl::StatusOr<std::unique_ptr<JobCluster>> cluster =
        JobCluster::Start(run.environment, *probes);
    if (!cluster.ok()) return cluster.status();
    TestSequenceResults& results = *run.job.mutable_results();
    search::SearchCallbacks callbacks;
    callbacks.run = search::RunOnSequencer((*cluster)->client());
    callbacks.progress = run.environment.progress;
    callbacks.observe = [&](const SearchReport&, const SearchProbe& probe,
                            const search::Bracket&) {
      run.environment.say(search::ProbeText(probe));
    };
    callbacks.save = [&](const TestSequenceResults&) { return run.save(); };
    const absl::Status status =
        search::RunLoadSearch(*plan, callbacks, results);
    DescribeSystems(run.environment, run.job);
    return status;
  }

  absl::Status Study(BenchJob& job) const override {
    if (job.results().searches().empty()) {
      return absl::InvalidArgumentError("no probe was run");
    }
    const SearchReport& report = job.results().searches(0);
    if (!search::HasAnswer(report)) {
      return absl::AbortedError(
          absl::StrCat("the search ended without an answer: ", report.verdict(),
                       ": ", report.evidence()));
    }
    job.clear_outcome();
    AddText(kVerdict, report.verdict(), *job.mutable_outcome());
    if (report.has_load()) {
      AddNumber(kFoundLoad, report.load(), *job.mutable_outcome());
      const double base = FindNumber(job.parameters(), kBaseLoad).value_or(0);
      if (report.search().knob() == "rate" && base > 0 &&
          IsOfOneSystem(report)) {
        AddNumber(kRateFactor, report.load() / base, *job.mutable_outcome());
      }
    }
    job.set_exit_code(search::ExitCodeOf(report));
    return absl::OkStatus();
  }

  std::string ResultText(const BenchJob& job) const override {
    if (job.results().searches().empty()) return "";
    const SearchReport& report = job.results().searches(0);
    const std::string answer = search::SearchAnswer(report);
    return absl::StrCat(
        "Result: ", report.verdict(), answer.empty() ? "" : ", ", answer, "\n",
        report.evidence(), report.evidence().empty() ? "" : "\n");
  }
};

}  // namespace

LoadSearchSpec SearchEffortOf(const PropertyValues& values) {
  LoadSearchSpec spec;
  if (const auto probes = values.Count("max_probes")) {
    spec.set_max_probes(*probes);
  }
  if (const auto percent = values.Number("tolerance")) {
    spec.set_tolerance(*percent / 100);
  }
  if (const auto warmup = values.Duration("warmup")) {
    spec.set_warmup_us(absl::ToInt64Microseconds(*warmup));
  }
  if (const auto probe = values.Duration("probe")) {
    spec.set_probe_duration_us(absl::ToInt64Microseconds(*probe));
  }
  if (const auto final_run = values.Duration("final")) {
    spec.set_final_duration_us(absl::ToInt64Microseconds(*final_run));
  }
  return spec;
}

const JobKind& SearchKind() {
  static const SearchJob& kind = *new SearchJob();
  return kind;
}

}  // namespace distbench::bench
