// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs the cells of an experiment, and keeps their results.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_RUNNER_H_
#define DISTBENCH_PRODUCTS_PROTECTION_RUNNER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/client/test_client.h"
#include "distbench/products/protection/experiment_plan.h"
#include "distbench/products/search/search_run.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

// A run of a cell that is about to start.
struct CellRun {
  ExperimentCell cell;
  int count = 1;  // of all runs; cell.order() is this one's position

  // How long the subject has to hold still. The first attempts are short; an
  // attempt whose subject did not hold still is repeated with twice the time.
  absl::Duration stabilise;
  int attempt = 1;

  // How long the run will take.
  absl::Duration duration;
};

enum class CellOutcome {
  kKept,      // the result is in the results
  kRepeated,  // the subject did not hold still; the next attempt follows
  kOmitted,   // the result would say nothing about protection
};

// Only `run` is required.
struct ExperimentCallbacks {
  // Runs one test. CANCELLED and UNAVAILABLE (the sequencer is gone) end the
  // experiment, which can be resumed; another error omits the cell.
  search::TestRunner run;

  // Called before and after each attempt. `evidence` says how the subject held
  // still, or why the cell is omitted.
  std::function<void(const CellRun& run)> announce;
  std::function<void(const CellRun& run, CellOutcome outcome,
                     const std::string& evidence)>
      observe;

  // Receives the events of the cells' runs.
  std::function<void(const RunTestsEvent& event)> progress;

  // Called with the results so far after each cell and each probe of the
  // search. An error ends the experiment.
  std::function<absl::Status(const TestSequenceResults& results)> save;

  // For the search of the capacity, if loads are shares of an unknown one. Its
  // `run` and `save` are those above.
  std::function<void(const search::SearchPlan& plan)> announce_search;
  search::SearchCallbacks search;
};

// Runs the cells that `results` does not hold yet. results.experiments(0) is
// the report, results.test_results the runs of cells, each with its
// experiment_cell, and results.searches the search of the capacity, if any. As
// long as no cell has been run, the runs are those of the search.
//
// A cell that cannot run is told in the report's omissions and does not end the
// others; neither do its further repetitions run if no traffic was possible. A
// run whose subject failed beside the antagonist is a result. A cell whose
// subject never held still is kept with is_stable: false.
//
// Errors are those of the callbacks, of CheckExperimentResumable(), and
// FAILED_PRECONDITION if the capacity was not found or no cell could be run.
absl::Status RunExperiment(const ExperimentPlan& plan,
                           const ExperimentCallbacks& callbacks,
                           TestSequenceResults& results);

// Plans an experiment for the nodes of a test sequencer.

// Plans the experiment of a canonical test for the nodes of the sequencer, so
// that RunExperiment() can begin it, or continue it from `results`. `seed` is
// used if results have none. Errors are those of the client, of
// PlanExperiment() and of CheckExperimentResumable().
absl::StatusOr<ExperimentPlan> PlanOnSequencer(
    const DistributedSystemDescription& test, uint64_t seed,
    const TestSequenceResults& results, client::TestClient& client);

// Continues an experiment from the results of an earlier start.

// The report of an experiment of which nothing has been run.
ExperimentReport NewReport(const ExperimentPlan& plan);

// Whether any cell has been run. Before that, the results may have runs of the
// search for the capacity.
bool HasCells(const TestSequenceResults& results);

// Whether the result is of a cell without an antagonist, which excuses nothing,
// and failed or is invalid.
bool IsFalseBaseline(const TestResult& result);

// The runs that are still to do, in their order: those that the results do not
// have, have as a false baseline, or could not measure.
std::vector<ExperimentCell> RunsLeft(const ExperimentPlan& plan,
                                     const TestSequenceResults& results);

// What of the experiment has no figures, in sentences: cells that could not be
// run, and runs that could not be measured.
std::vector<std::string> WithoutFigures(const TestSequenceResults& results);

// The seed of the experiment in the results, with which it is to be planned
// again; absent if there is none.
std::optional<uint64_t> SeedOf(const TestSequenceResults& results);

// The workers of each instance in the results' tests; 0 if nothing has been
// run. Another number would make later cells differ from earlier ones.
int WorkersOf(const TestSequenceResults& results);

// Checks that the results, which may be empty, are those of this experiment on
// this test, so that it can continue from them. The number of repetitions may
// differ. FAILED_PRECONDITION describes the differences.
absl::Status CheckExperimentResumable(const ExperimentPlan& plan,
                                      const TestSequenceResults& results);

// Whether no run is left, and no cell was omitted.
bool IsCompleteExperiment(const ExperimentPlan& plan,
                          const TestSequenceResults& results);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_RUNNER_H_
