// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/runner.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/products/protection/cell_config.h"
#include "distbench/products/protection/experiment/cells.h"
#include "distbench/products/protection/experiment/services.h"
#include "distbench/products/protection/experiment_searches.h"
#include "distbench/products/protection/measures/matrix.h"
#include "distbench/products/protection/subject_record.h"
#include "distbench/products/search/resumption.h"
#include "distbench/products/search/search_run.h"
#include "distbench/report/measurements/run_outcome.h"

namespace distbench::protection {
namespace {

// The first attempts give the subject this many times the time over which it
// must hold still: one to settle, and one to show it.
constexpr int kFirstStabiliseTimes = 2;

// The time after which the kept runs' subjects held still; at least that of a
// first attempt. What one cell needed, the next ones probably need as well, and
// equal times give them equal arrivals.
absl::Duration StabiliseTime(const ExperimentPlan& plan,
                             const TestSequenceResults& results) {
  absl::Duration longest = kFirstStabiliseTimes * plan.phases.flat_over;
  for (const TestResult& result : results.test_results()) {
    if (result.experiment_cell().has_is_stable()) {
      longest = std::max(longest, StabiliseTimeOf(result));
    }
  }
  return std::min(longest, plan.phases.stabilise);
}

bool IsRunOf(const ExperimentCell& cell, const TestResult& result) {
  return result.has_experiment_cell() &&
         IsSameRun(result.experiment_cell(), cell);
}

// Adds the run, or puts it in the place of one that was to be tried again.
void KeepRun(TestResult result, TestSequenceResults& results) {
  for (TestResult& kept : *results.mutable_test_results()) {
    if (!IsRunOf(result.experiment_cell(), kept)) continue;
    kept = std::move(result);
    return;
  }
  *results.add_test_results() = std::move(result);
}

// Whether there is no point in asking for anything else.
bool EndsExperiment(const absl::Status& status) {
  return absl::IsCancelled(status) || absl::IsUnavailable(status);
}

// One attempt's result, or why there is none.
struct Attempt {
  CellOutcome outcome = CellOutcome::kOmitted;
  std::string evidence;
  TestResult result;  // only if kept

  // Whether the test sent any traffic. If not, a repetition would not either.
  bool started = false;
};

class ExperimentRunner {
 public:
  ExperimentRunner(const ExperimentPlan& plan,
                   const ExperimentCallbacks& callbacks,
                   TestSequenceResults& results)
      : plan_(plan), callbacks_(callbacks), results_(results) {}

  absl::Status Run();

 private:
  absl::Status SetCapacity();
  absl::Status RunCell(ExperimentCell cell, int count);
  absl::StatusOr<Attempt> RunAttempt(const CellRun& run);
  Attempt Judge(const CellRun& run, TestResult result) const;
  void Omit(const ExperimentCell& cell, const Attempt& attempt);
  absl::Status Save() {
    return callbacks_.save ? callbacks_.save(results_) : absl::OkStatus();
  }
  ExperimentReport& report() { return *results_.mutable_experiments(0); }
  bool IsImpossible(const ExperimentCell& cell) const {
    return absl::c_any_of(impossible_, [&](const ExperimentCell& other) {
      return IsSameCell(cell, other);
    });
  }

  const ExperimentPlan& plan_;
  const ExperimentCallbacks& callbacks_;
  TestSequenceResults& results_;
  std::vector<ExperimentCell> impossible_;
};

absl::Status ExperimentRunner::Run() {
  // What could not be run before may be possible now.
  report().clear_omissions();
  if (absl::Status status = SetCapacity(); !status.ok()) return status;
  const auto count =
      static_cast<int>(ListCells(plan_.experiment, plan_.seed).size());
  for (const ExperimentCell& cell : RunsLeft(plan_, results_)) {
    if (IsImpossible(cell)) continue;
    const absl::Status status = RunCell(cell, count);
    if (!status.ok()) return status;
  }
  if (HasCells(results_) || report().omissions().empty()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("none of the cells could be run: ", report().omissions(0)));
}

absl::Status ExperimentRunner::SetCapacity() {
  if (!NeedsCapacity(plan_) || report().has_capacity_per_second()) {
    return absl::OkStatus();
  }
  const ExperimentSubject& subject = plan_.experiment.subject();
  absl::StatusOr<double> capacity;
  if (subject.has_capacity()) {
    capacity = config::ParseRateWithUnit(subject.capacity());
  } else {
    const absl::StatusOr<search::SearchPlan> search = PlanCapacitySearch(plan_);
    if (!search.ok()) return search.status();
    if (callbacks_.announce_search) callbacks_.announce_search(*search);
    search::SearchCallbacks callbacks = callbacks_.search;
    callbacks.run = callbacks_.run;
    callbacks.save = callbacks_.save;
    capacity = FindCapacity(plan_, *search, callbacks, results_);
  }
  if (!capacity.ok()) return capacity.status();
  report().set_capacity_per_second(*capacity);
  return Save();
}

absl::Status ExperimentRunner::RunCell(ExperimentCell cell, int count) {
  const double load =
      LoadPerSecond(plan_, cell, report().capacity_per_second());
  if (load > 0) cell.set_load_per_second(load);
  CellRun run = {.cell = std::move(cell),
                 .count = count,
                 .stabilise = StabiliseTime(plan_, results_)};
  while (true) {
    run.duration = TimesOf(plan_, run.cell, run.stabilise).end;
    if (callbacks_.announce) callbacks_.announce(run);
    absl::StatusOr<Attempt> attempt = RunAttempt(run);
    if (!attempt.ok()) return attempt.status();
    if (attempt->outcome == CellOutcome::kOmitted) Omit(run.cell, *attempt);
    if (attempt->outcome == CellOutcome::kKept) {
      // The cell tells as well as the run of the search what the test is.
      if (!HasCells(results_)) results_.clear_test_results();
      KeepRun(std::move(attempt->result), results_);
    }
    if (callbacks_.observe) {
      callbacks_.observe(run, attempt->outcome, attempt->evidence);
    }
    if (attempt->outcome != CellOutcome::kRepeated) return Save();
    run.stabilise = std::min(2 * run.stabilise, plan_.phases.stabilise);
    ++run.attempt;
  }
}

absl::StatusOr<Attempt> ExperimentRunner::RunAttempt(const CellRun& run) {
  const absl::StatusOr<DistributedSystemDescription> test =
      CellTest(plan_, run.cell, run.stabilise);
  if (!test.ok()) {
    return Attempt{.evidence = std::string(test.status().message())};
  }
  absl::StatusOr<TestResult> result =
      callbacks_.run(*test, [&](const RunTestsEvent& event) {
        if (callbacks_.progress) callbacks_.progress(event);
        return true;
      });
  if (result.ok()) return Judge(run, *std::move(result));
  if (EndsExperiment(result.status())) return result.status();
  return Attempt{.evidence = std::string(result.status().message())};
}

Attempt ExperimentRunner::Judge(const CellRun& run, TestResult result) const {
  LabelResult(plan_, run.cell, run.stabilise, result);
  Attempt attempt;
  attempt.started = result.run_info().has_start_timestamp_ns();
  attempt.evidence = WhyUnusable(result);
  if (!attempt.evidence.empty()) return attempt;
  const ExperimentCell& cell = result.experiment_cell();
  attempt.evidence = cell.stability();
  const bool may_settle = cell.has_is_stable() && !cell.is_stable() &&
                          run.stabilise < plan_.phases.stabilise;
  attempt.outcome = may_settle ? CellOutcome::kRepeated : CellOutcome::kKept;
  attempt.result = std::move(result);
  return attempt;
}

void ExperimentRunner::Omit(const ExperimentCell& cell,
                            const Attempt& attempt) {
  if (!attempt.started) impossible_.push_back(cell);
  report().add_omissions(absl::StrCat(
      "The cell (", DescribeCell(cell), ") ",
      attempt.started ? absl::StrCat("was not measured in repetition ",
                                     cell.repetition() + 1)
                      : "could not be run",
      ": ", attempt.evidence, "."));
}

}  // namespace

absl::Status RunExperiment(const ExperimentPlan& plan,
                           const ExperimentCallbacks& callbacks,
                           TestSequenceResults& results) {
  if (absl::Status status = CheckExperimentResumable(plan, results);
      !status.ok()) {
    return status;
  }
  if (results.experiments().empty()) {
    *results.add_experiments() = NewReport(plan);
  }
  results.mutable_experiments(0)->mutable_experiment()->set_repeat(
      plan.experiment.repeat());
  return ExperimentRunner(plan, callbacks, results).Run();
}

absl::StatusOr<ExperimentPlan> PlanOnSequencer(
    const DistributedSystemDescription& test, uint64_t seed,
    const TestSequenceResults& results, client::TestClient& client) {
  ExperimentOptions options;
  options.seed = SeedOf(results).value_or(seed);
  const absl::StatusOr<GetStatusResponse> status = client.GetStatus();
  if (!status.ok()) return status.status();
  if (absl::Status same = search::CheckHosts(results, *status); !same.ok()) {
    return same;
  }
  options.workers_per_instance = WorkersOf(results);
  if (options.workers_per_instance == 0) {
    options.workers_per_instance = WorkersOfSubject(test, *status);
  }
  absl::StatusOr<ExperimentPlan> plan = PlanExperiment(test, options);
  if (!plan.ok()) return plan.status();
  if (absl::Status resumable = CheckExperimentResumable(*plan, results);
      !resumable.ok()) {
    return resumable;
  }
  return plan;
}

namespace {

// Removes what the placement adds to a test, and what results do not keep.
DistributedSystemDescription Comparable(DistributedSystemDescription test) {
  for (ServiceSpec& service : *test.mutable_services()) {
    service.clear_multi_server_channels();
  }
  config::RedactSecrets(test);
  return test;
}

// Checks a search for the capacity.
absl::Status CheckSearch(const ExperimentPlan& plan,
                         const TestSequenceResults& results) {
  const absl::StatusOr<search::SearchPlan> search = PlanCapacitySearch(plan);
  return search.ok() ? search::CheckResumable(*search, results)
                     : search.status();
}

// Checks a kept run by making its test again.
absl::Status CheckRun(const ExperimentPlan& plan, const TestResult& result) {
  const absl::StatusOr<DistributedSystemDescription> again =
      CellTest(plan, result.experiment_cell(), StabiliseTimeOf(result));
  if (!again.ok()) return again.status();
  return search::CheckSame(
      absl::StrCat("its cell (", DescribeCell(result.experiment_cell()),
                   ") was run with another test"),
      Comparable(result.traffic_config()), Comparable(*again));
}

}  // namespace

ExperimentReport NewReport(const ExperimentPlan& plan) {
  ExperimentReport report;
  *report.mutable_experiment() = plan.experiment;
  report.set_test_name(plan.subject.name());
  report.set_random_seed(plan.seed);
  return report;
}

bool HasCells(const TestSequenceResults& results) {
  return absl::c_any_of(results.test_results(), [](const TestResult& result) {
    return result.has_experiment_cell();
  });
}

bool IsFalseBaseline(const TestResult& result) {
  return result.has_experiment_cell() &&
         result.experiment_cell().antagonist().empty() &&
         report::OutcomeOf(result) != report::RunOutcome::kMeasured;
}

std::vector<ExperimentCell> RunsLeft(const ExperimentPlan& plan,
                                     const TestSequenceResults& results) {
  std::set<const TestResult*> again;
  for (const UnmeasuredRun& run : UnmeasuredRuns(results)) {
    again.insert(run.result);
  }
  for (const TestResult& result : results.test_results()) {
    if (IsFalseBaseline(result)) again.insert(&result);
  }
  std::vector<ExperimentCell> left = ListCells(plan.experiment, plan.seed);
  std::erase_if(left, [&](const ExperimentCell& cell) {
    return absl::c_any_of(
        results.test_results(), [&](const TestResult& result) {
          return IsRunOf(cell, result) && !again.contains(&result);
        });
  });
  return left;
}

std::vector<std::string> WithoutFigures(const TestSequenceResults& results) {
  std::vector<std::string> sentences;
  for (const ExperimentReport& report : results.experiments()) {
    sentences.insert(sentences.end(), report.omissions().begin(),
                     report.omissions().end());
  }
  for (UnmeasuredRun& run : UnmeasuredRuns(results)) {
    sentences.push_back(std::move(run.sentence));
  }
  return sentences;
}

std::optional<uint64_t> SeedOf(const TestSequenceResults& results) {
  if (results.experiments().empty()) return std::nullopt;
  return results.experiments(0).random_seed();
}

int WorkersOf(const TestSequenceResults& results) {
  if (results.test_results().empty()) return 0;
  return results.test_results(0).traffic_config().workers_per_instance();
}

absl::Status CheckExperimentResumable(const ExperimentPlan& plan,
                                      const TestSequenceResults& results) {
  if (results.experiments().empty() && results.test_results().empty()) {
    return absl::OkStatus();
  }
  if (results.experiments_size() != 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("it has ", results.experiments_size(),
                     " experiments; one is needed to go on"));
  }
  ExperimentReport expected = NewReport(plan);
  ExperimentReport report = results.experiments(0);
  // Further repetitions follow those that have been run.
  expected.mutable_experiment()->clear_repeat();
  report.mutable_experiment()->clear_repeat();
  report.clear_capacity_per_second();
  report.clear_omissions();
  if (absl::Status same = search::CheckSame("it comes from another experiment",
                                            report, expected);
      !same.ok()) {
    return same;
  }
  if (!HasCells(results) && !results.searches().empty()) {
    return CheckSearch(plan, results);
  }
  for (const TestResult& result : results.test_results()) {
    if (absl::Status status = CheckRun(plan, result); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

bool IsCompleteExperiment(const ExperimentPlan& plan,
                          const TestSequenceResults& results) {
  if (results.experiments().empty()) return false;
  if (!results.experiments(0).omissions().empty()) return false;
  return RunsLeft(plan, results).empty();
}

}  // namespace distbench::protection
