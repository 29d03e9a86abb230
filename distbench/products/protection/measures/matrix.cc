// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/matrix.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/products/protection/experiment/cells.h"
#include "distbench/products/protection/measures/phases.h"
#include "distbench/products/protection/measures/resources.h"
#include "distbench/results/run_failure.h"

namespace distbench::protection {
namespace {

// More than 500 runs of an hour: only damaged results have more.
constexpr int64_t kMostSecondsOfExperiment = 2'000'000;

// A verdict of searches (docs/products/search.md).
constexpr absl::string_view kUpperBoundHit = "upper_bound_hit";

// The place of a name in a list of the experiment, and the name.
using Place = std::pair<int, std::string>;

struct CellKey {
  Place controls;
  Place antagonist;
  Place load;

  friend auto operator<=>(const CellKey&, const CellKey&) = default;
};

template <typename List, typename NameOf>
Place PlaceOf(const std::string& name, const List& list, NameOf name_of) {
  int place = 0;
  for (const auto& item : list) {
    if (name_of(item) == name) break;
    ++place;
  }
  return {place, name};
}

CellKey KeyOf(const ExperimentCell& cell, const Experiment& experiment) {
  const auto name_of = [](const auto& item) { return item.name(); };
  Place antagonist = {-1, ""};
  if (!cell.antagonist().empty()) {
    antagonist = PlaceOf(cell.antagonist(), experiment.antagonists(), name_of);
  }
  return {.controls = PlaceOf(cell.controls(), experiment.controls(), name_of),
          .antagonist = antagonist,
          .load = PlaceOf(cell.load(), experiment.subject().loads(),
                          [](const std::string& load) { return load; })};
}

// Results with what they used of resources.
struct Group {
  std::vector<const TestResult*> results;
  std::vector<RunUses> uses;
};

int RepetitionOf(const ProtectionRun& run) {
  return run.result->experiment_cell().repetition();
}

using RunKey =
    std::tuple<std::string, std::string, std::string, std::string, int>;

RunKey RunKeyOf(const ExperimentCell& cell) {
  return {cell.purpose(), cell.controls(), cell.antagonist(), cell.load(),
          cell.repetition()};
}

std::vector<ExperimentCell> MissingRuns(
    const Experiment& experiment,
    const std::vector<const TestResult*>& results) {
  // Only a damaged result asks for more.
  if (CountRuns(experiment) > kMostExperimentRuns) return {};
  std::set<RunKey> present;
  for (const TestResult* result : results) {
    present.insert(RunKeyOf(result->experiment_cell()));
  }
  constexpr uint64_t kAnySeed = 0;  // of an order that does not matter here
  std::map<RunKey, ExperimentCell> missing;
  for (const ExperimentCell& run : ListCells(experiment, kAnySeed)) {
    const RunKey key = RunKeyOf(run);
    if (!present.contains(key)) missing[key] = run;
  }
  std::vector<ExperimentCell> runs;
  for (const auto& [key, run] : missing) runs.push_back(run);
  return runs;
}

// Puts the runs of one experiment together.
class MatrixBuilder {
 public:
  MatrixBuilder(const ExperimentReport& report,
                const std::vector<const TestResult*>& results)
      : experiment_(report.experiment()) {
    matrix_.report = &report;
    matrix_.missing_runs = MissingRuns(experiment_, results);
    for (const TestResult* result : results) {
      const ExperimentCell& cell = result->experiment_cell();
      if (IsAntagonistAlone(cell)) {
        AddAlone(*result);
      } else {
        results_[KeyOf(cell, experiment_)].push_back(result);
      }
    }
  }

  ProtectionMatrix Build() {
    const absl::StatusOr<ProtectionSubject> subject = SubjectOf(experiment_);
    if (!subject.ok()) {
      matrix_.problem = std::string(subject.status().message());
    } else if (results_.empty()) {
      matrix_.problem = "the results contain no run of its cells";
    } else {
      matrix_.subject = *subject;
      for (const auto& [key, results] : results_) AddCell(key, results);
      CompareWithNone();
      AddConservation();
    }
    return std::move(matrix_);
  }

 private:
  static void Add(const TestResult& result, Group& group) {
    group.results.push_back(&result);
    group.uses.push_back(UsesOf(result));
  }

  // What a run that failed did until then counts, but says less.
  void AddAlone(const TestResult& result) {
    const std::string& name = result.experiment_cell().antagonist();
    Add(result, alone_[name]);
    if (std::optional<std::string> failure = results::FailureOf(result)) {
      matrix_.failures_alone.push_back(
          {.antagonist = name, .failure = *std::move(failure)});
    }
  }

  void AddCell(const CellKey& key,
               const std::vector<const TestResult*>& results) {
    ProtectionCell& cell = matrix_.cells.emplace_back();
    cell.controls = key.controls.second;
    cell.antagonist = key.antagonist.second;
    cell.load = key.load.second;
    Group& measured = measured_.emplace_back();
    for (const TestResult* result : results) {
      const double load = result->experiment_cell().load_per_second();
      if (load > 0) cell.load_per_second = load;
      cell.runs.push_back(
          MeasureProtection(*result, matrix_.subject, seconds_left_));
      seconds_left_ -= static_cast<int64_t>(cell.runs.back().seconds.size());
      if (cell.runs.back().problem.empty()) Add(*result, measured);
    }
    std::stable_sort(cell.runs.begin(), cell.runs.end(),
                     [](const ProtectionRun& a, const ProtectionRun& b) {
                       return RepetitionOf(a) < RepetitionOf(b);
                     });
    MeasureCell(cell);
    if (cell.antagonist.empty()) return;
    cell.work = {.beside = MeanAntagonistRate(measured.results),
                 .alone = MeanAntagonistRate(alone_[cell.antagonist].results)};
  }

  void CompareWithNone() {
    std::map<std::pair<std::string, std::string>, double> goodput_of_none;
    for (const ProtectionCell& cell : matrix_.cells) {
      const auto mean = ValueDistribution(GoodputOf(cell)).mean();
      if (!cell.antagonist.empty() || !mean) continue;
      goodput_of_none[{cell.controls, cell.load}] = *mean;
    }
    for (ProtectionCell& cell : matrix_.cells) {
      const auto none = goodput_of_none.find({cell.controls, cell.load});
      if (cell.antagonist.empty() || none == goodput_of_none.end() ||
          none->second == 0) {
        continue;
      }
      std::vector<double> shares = GoodputOf(cell);
      for (double& share : shares) share = std::min(1.0, share / none->second);
      cell.isolation_against_none = ValueDistribution(std::move(shares)).mean();
    }
  }

  void AddConservation() {
    for (size_t i = 0; i < matrix_.cells.size(); ++i) {
      ProtectionCell& cell = matrix_.cells[i];
      if (cell.antagonist.empty()) continue;
      const Group& alone = alone_[cell.antagonist];
      for (size_t resource = 0; resource < kWorkResources.size(); ++resource) {
        cell.conservation.push_back(
            ConservationOf(measured_[i].uses, alone.uses, resource,
                           MostWith(cell.antagonist, resource)));
      }
    }
  }

  // The most that was used in any cell of the antagonist, or by it alone.
  double MostWith(const std::string& antagonist, size_t resource) {
    double most = MostUsed(alone_[antagonist].uses, resource);
    for (size_t i = 0; i < matrix_.cells.size(); ++i) {
      if (matrix_.cells[i].antagonist != antagonist) continue;
      most = std::max(most, MostUsed(measured_[i].uses, resource));
    }
    return most;
  }

  const Experiment& experiment_;
  ProtectionMatrix matrix_;
  int64_t seconds_left_ = kMostSecondsOfExperiment;
  std::map<CellKey, std::vector<const TestResult*>> results_;

  // By the cells of the matrix: the runs without a problem.
  std::vector<Group> measured_;

  // Antagonists alone, by name.
  std::map<std::string, Group> alone_;
};

// Whether a cell's test may belong to an experiment on the test of this name:
// the names of cells follow it.
bool IsNamedAfter(const std::string& test_name, const std::string& cell_test) {
  return test_name.empty() || cell_test == test_name ||
         absl::StartsWith(cell_test, absl::StrCat(test_name, "-"));
}

// The experiment of a cell's test: the one with the longest name that fits, so
// that "a-b" is not taken for a cell of "a". The only experiment fits all.
const ExperimentReport* ExperimentOf(const TestResult& result,
                                     const TestSequenceResults& all) {
  if (all.experiments_size() == 1) return &all.experiments(0);
  const ExperimentReport* experiment = nullptr;
  for (const ExperimentReport& report : all.experiments()) {
    if (!IsNamedAfter(report.test_name(), result.traffic_config().name())) {
      continue;
    }
    if (experiment == nullptr ||
        report.test_name().size() > experiment->test_name().size()) {
      experiment = &report;
    }
  }
  return experiment;
}

// In results of several experiments, the search is that of any of them.
bool IsCapacityLeast(const ExperimentReport& report,
                     const TestSequenceResults& results) {
  return report.has_capacity_per_second() &&
         !report.experiment().subject().has_capacity() &&
         std::any_of(results.searches().begin(), results.searches().end(),
                     [](const SearchReport& search) {
                       return search.verdict() == kUpperBoundHit;
                     });
}

}  // namespace

std::vector<ProtectionMatrix> MeasureExperiments(
    const TestSequenceResults& results) {
  std::map<const ExperimentReport*, std::vector<const TestResult*>> runs;
  for (const TestResult& result : results.test_results()) {
    if (!result.has_experiment_cell()) continue;
    runs[ExperimentOf(result, results)].push_back(&result);
  }
  std::vector<ProtectionMatrix> matrices;
  for (const ExperimentReport& report : results.experiments()) {
    ProtectionMatrix& matrix =
        matrices.emplace_back(MatrixBuilder(report, runs[&report]).Build());
    matrix.is_capacity_least = IsCapacityLeast(report, results);
  }
  return matrices;
}

std::vector<ProtectionMatrix> MeasureExperiments(
    absl::Span<const report::TestRun> runs) {
  std::vector<ProtectionMatrix> matrices;
  std::set<const TestSequenceResults*> seen;
  for (const report::TestRun& run : runs) {
    if (run.sequence == nullptr || !seen.insert(run.sequence).second) continue;
    for (ProtectionMatrix& matrix : MeasureExperiments(*run.sequence)) {
      matrix.source = run.source;
      matrices.push_back(std::move(matrix));
    }
  }
  return matrices;
}

namespace {

using Notes = std::vector<std::string>;

// More missing runs are counted only.
constexpr size_t kMostNamed = 3;

void AddOutcome(const ProtectionRun& run, Notes& notes) {
  const ExperimentCell& cell = run.result->experiment_cell();
  const std::optional<std::string> failure = results::FailureOf(*run.result);
  if (!run.problem.empty()) {
    notes.push_back(absl::StrCat("not measured: ", run.problem));
  } else if (failure) {
    notes.push_back(absl::StrCat("it failed: ", *failure));
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
        "only %.3g %% of the requests of its baseline were served within the "
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

std::vector<UnmeasuredRun> UnmeasuredRuns(const TestSequenceResults& results) {
  std::vector<UnmeasuredRun> unmeasured;
  for (const ProtectionMatrix& matrix : MeasureExperiments(results)) {
    for (const ProtectionCell& cell : matrix.cells) {
      for (const ProtectionRun& run : cell.runs) {
        if (run.problem.empty()) continue;
        const ExperimentCell& label = run.result->experiment_cell();
        unmeasured.push_back(
            {.result = run.result,
             .sentence = absl::StrCat("The cell (", DescribeCell(label),
                                      ") was not measured in repetition ",
                                      label.repetition() + int64_t{1}, ": ",
                                      run.problem, ".")});
      }
    }
  }
  return unmeasured;
}

}  // namespace distbench::protection
