#include "distbench/products/protection/measures/notes.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/products/protection/experiment/cells.h"
#include "distbench/products/protection/measures/phases.h"

namespace distbench::protection {
namespace {

using Notes = std::vector<std::string>;

// More missing runs are counted only.
constexpr size_t kMostNamed = 3;

void AddOutcome(const ProtectionRun& run, Notes& notes) {
  const ExperimentCell& cell = run.result->experiment_cell();
  const std::string& failure = run.result->run_info().failure();
  if (!run.problem.empty()) {
    notes.push_back(absl::StrCat("not measured: ", run.problem));
  } else if (!failure.empty()) {
    notes.push_back(absl::StrCat("it failed: ", failure));
  }
  if (run.antagonist_lost) {
    notes.push_back("the antagonist was lost, and its seconds end there");
  }
  if (cell.has_is_stable() && !cell.is_stable()) {
    notes.push_back(absl::StrCat("the subject did not hold still before: ",
                                 cell.stability()));
  }
}

void AddRecords(const ProtectionRun& run, Notes& notes) {
  if (run.left_out_count > 0) {
    notes.push_back(
        absl::StrCat("the series of ", run.left_out_count,
                     " clients could not be added to those of the others"));
  }
  if (run.clocks_contradict) {
    notes.push_back(
        "it has records from before its start or from after its end: clocks "
        "were set, or differ, so its phases may not be when the antagonist "
        "worked");
  }
}

void AddBaseline(const ProtectionRun& run, Notes& notes) {
  const BaselineQuality& baseline = run.baseline;
  if (baseline.served_share < kLeastServedShare) {
    notes.push_back(absl::StrFormat(
        "only %.3g%% of the requests of its baseline were served within the "
        "objective, and isol%% is relative to these: the subject was "
        "overloaded or failing before the antagonist began",
        100 * baseline.served_share));
  }
  if (baseline.silent_count > 0) {
    notes.push_back(
        absl::StrFormat("nothing was served in %d of the %d seconds of its "
                        "baseline",
                        baseline.silent_count, baseline.second_count));
  }
  if (baseline.second_count < kFewestBaselineSeconds) {
    notes.push_back(absl::StrFormat(
        "whole intervals of its baseline: only %d, of %g s "
        "each, whose noise is in all of its figures",
        baseline.second_count, static_cast<double>(run.interval_ns) / 1e9));
  }
  if (!baseline.has_main_impact) {
    notes.push_back(
        "the p95 of its baseline is failed, so it has no lat-imp% and no time "
        "to recover");
  }
  if (baseline.without_response_time_count > 0) {
    notes.push_back(absl::StrFormat(
        "%d requests of its baseline have no response time, because they were "
        "not sent by open loops, and do not count as goodput",
        baseline.without_response_time_count));
  }
}

bool LostAntagonistInAnyRun(const ProtectionCell& cell) {
  return std::any_of(
      cell.runs.begin(), cell.runs.end(),
      [](const ProtectionRun& run) { return LostAntagonist(*run.result); });
}

bool DidNothing(const WorkRate& rate) {
  return rate.completed == 0 && rate.bytes == 0 && rate.message_bytes == 0;
}

// Needs at least one.
std::string NoteOfMissing(const std::vector<ExperimentCell>& missing) {
  std::vector<std::string> named;
  for (size_t i = 0; i < std::min(missing.size(), kMostNamed); ++i) {
    named.push_back(absl::StrCat("(", DescribeCell(missing[i]),
                                 ") in repetition ",
                                 missing[i].repetition() + int64_t{1}));
  }
  if (missing.size() > kMostNamed) {
    named.push_back(absl::StrCat(missing.size() - kMostNamed, " more"));
  }
  return absl::StrCat("the experiment is not complete; missing are ",
                      absl::StrJoin(named, ", "),
                      ". distbench protection --resume runs them");
}

}  // namespace

std::vector<std::string> NotesOf(const ProtectionRun& run) {
  Notes notes;
  AddOutcome(run, notes);
  if (!run.problem.empty()) return notes;
  AddRecords(run, notes);
  AddBaseline(run, notes);
  return notes;
}

std::vector<std::string> NotesOf(const ProtectionCell& cell) {
  if (cell.antagonist.empty() || MeasuredRunCount(cell) == 0) return {};
  if (cell.work.beside) {
    if (!DidNothing(*cell.work.beside)) return {};
    return {
        "the antagonist completed nothing beside the subject, so nothing shows "
        "that it interfered"};
  }
  // The count of its work is lost with it.
  if (LostAntagonistInAnyRun(cell)) return {};
  return {
      "no work of the antagonist was recorded, so nothing shows that it "
      "interfered"};
}

std::vector<std::string> NotesOf(const ProtectionMatrix& matrix) {
  Notes notes;
  if (!matrix.missing_runs.empty()) {
    notes.push_back(NoteOfMissing(matrix.missing_runs));
  }
  for (const FailureAlone& run : matrix.failures_alone) {
    notes.push_back(absl::StrCat("a run of antagonist ", run.antagonist,
                                 " alone failed, so that comparisons with it "
                                 "are not to be trusted: ",
                                 run.failure));
  }
  if (matrix.is_capacity_least) {
    notes.push_back(
        "the search for the capacity met the objective at the highest load "
        "that it was to try: shares of the capacity are shares of this load. "
        "Give the test's search a higher max_load");
  }
  return notes;
}

std::vector<std::string> UnmeasuredRuns(const TestSequenceResults& results) {
  std::vector<std::string> sentences;
  for (const ProtectionMatrix& matrix : MeasureExperiments(results)) {
    for (const ProtectionCell& cell : matrix.cells) {
      for (const ProtectionRun& run : cell.runs) {
        if (run.problem.empty()) continue;
        const ExperimentCell& label = run.result->experiment_cell();
        sentences.push_back(absl::StrCat("The cell (", DescribeCell(label),
                                         ") was not measured in repetition ",
                                         label.repetition() + int64_t{1}, ": ",
                                         run.problem, "."));
      }
    }
  }
  return sentences;
}

}  // namespace distbench::protection
