// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs the probes of a search on a system, and keeps a report of them.

#ifndef DISTBENCH_PRODUCTS_SEARCH_SEARCH_RUN_H_
#define DISTBENCH_PRODUCTS_SEARCH_SEARCH_RUN_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/products/search/search_plan.h"
#include "distbench/products/search/strategy/load_search.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {

// Verdicts of a report in addition to those of LoadSearch: all loads of a list
// met, or not all of them did, or a failed run ended the search.
inline constexpr char kAllMetVerdict[] = "all_met";
inline constexpr char kNotAllMetVerdict[] = "not_all_met";
inline constexpr char kInvalidVerdict[] = "invalid";

// The hardest load that met and the easiest that missed or could not be
// generated, as far as the search knows them (LoadSearch). A list has neither.
struct Bracket {
  std::optional<double> met;
  std::optional<double> missed;
};

// A probe that is about to run.
struct PlannedProbe {
  int number = 1;
  ProbeRequest request;
  ProbeTiming timing;

  // The measured time that was asked for; less than that of `timing` if rare
  // RPCs need longer.
  absl::Duration asked;

  Bracket bracket;  // so far
};

// Receives the events of a run. Returns false to end the run, whose result is
// then not needed.
using ProgressWatcher = std::function<bool(const RunTestsEvent& event)>;

// Runs one test until it ends or the watcher returns false. An error ends the
// search, which can be resumed later.
using TestRunner = std::function<absl::StatusOr<TestResult>(
    const DistributedSystemDescription& test, const ProgressWatcher& watch)>;

// Only `run` is required.
struct SearchCallbacks {
  TestRunner run;

  // Called before and after each probe, respectively; `bracket` includes it.
  std::function<void(const PlannedProbe& probe)> announce;
  std::function<void(const SearchReport& report, const SearchProbe& probe,
                     const Bracket& bracket)>
      observe;

  // Receives the events of the runs.
  std::function<void(const RunTestsEvent& event)> progress;

  // The wall clock; defaults to absl::Now.
  std::function<absl::Time()> now;

  // Called with the results so far after each probe, and at the end. An error
  // ends the search.
  std::function<absl::Status(const TestSequenceResults& results)> save;
};

// The report of the plan before its first probe: what is asked.
SearchReport NewSearchReport(const SearchPlan& plan);

// Whether the search has ended, with an answer about the system.
bool HasAnswer(const SearchReport& report);

// The report::ExitCode that the verdict stands for.
int ExitCodeOf(const SearchReport& report);

// Searches for the highest load, or runs plan.loads. results.searches(0) is the
// report. If it already exists, the search continues as resumption.h says: it
// runs what failed again, goes on with a larger budget, and begins another
// attempt if it had ended without an answer and nothing else is left to run.
//
// results.test_results holds the final runs at the last load (of a list of
// loads, those of all) or, until there is one, the run that met at the highest
// load; until one has met, the last run.
//
// The search ends with kInvalidVerdict if a run was lost, or if one of its
// instances failed or fell behind. The report says so, and OK is returned.
// Errors are those of the callbacks and of CheckResumable().
absl::Status RunLoadSearch(const SearchPlan& plan,
                           const SearchCallbacks& callbacks,
                           TestSequenceResults& results);

// Checks that the results have one search, and what it was asked.
// FAILED_PRECONDITION otherwise.
absl::Status CheckKept(const TestSequenceResults& results);

// Checks that the results belong to this plan, and have the probes that it asks
// for, so that it can continue from them. A larger budget is no difference.
// FAILED_PRECONDITION describes the differences.
absl::Status CheckResumable(const SearchPlan& plan,
                            const TestSequenceResults& results);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_SEARCH_RUN_H_
