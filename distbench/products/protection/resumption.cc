#include "distbench/products/protection/resumption.h"

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/reading/load.h"
#include "distbench/products/protection/capacity.h"
#include "distbench/products/protection/cell_config.h"
#include "distbench/products/protection/experiment/cells.h"
#include "distbench/products/protection/subject_record.h"
#include "distbench/products/search/search_run.h"
#include "google/protobuf/util/message_differencer.h"

namespace distbench::protection {
namespace {

// Returns how the messages differ; empty if they do not.
std::string DifferencesOf(const google::protobuf::Message& a,
                          const google::protobuf::Message& b) {
  google::protobuf::util::MessageDifferencer differencer;
  std::string differences;
  differencer.ReportDifferencesToString(&differences);
  return differencer.Compare(a, b) ? "" : differences;
}

// Removes what the placement adds to a test, and what results do not keep.
DistributedSystemDescription Comparable(DistributedSystemDescription test) {
  for (ServiceSpec& service : *test.mutable_services()) {
    service.clear_multi_server_channels();
  }
  config::RedactSecrets(test);
  return test;
}

// Checks a search for the capacity by its last run.
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
  const std::string differences =
      DifferencesOf(Comparable(result.traffic_config()), Comparable(*again));
  if (differences.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "its cell (", DescribeCell(result.experiment_cell()),
      ") was run with another test, which differs in:\n", differences));
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

bool HasRun(const TestSequenceResults& results, const ExperimentCell& cell) {
  return absl::c_any_of(results.test_results(), [&](const TestResult& result) {
    return result.has_experiment_cell() &&
           IsSameRun(result.experiment_cell(), cell);
  });
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
  const std::string differences = DifferencesOf(report, expected);
  if (!differences.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "it comes from another experiment, which differs in:\n", differences));
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
  return absl::c_all_of(
      ListCells(plan.experiment, plan.seed),
      [&](const ExperimentCell& cell) { return HasRun(results, cell); });
}

}  // namespace distbench::protection
