// Runs the probes of a search on a system, and keeps a report of them.

#ifndef DISTBENCH_SEARCH_SEARCH_RUN_H_
#define DISTBENCH_SEARCH_SEARCH_RUN_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/search/search_plan.h"
#include "distbench/search/strategy/load_search.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Besides those of LoadSearch a report may have these verdicts: a list of loads
// of which all met, or not; and what ended with a run that failed.
inline constexpr char kAllMetVerdict[] = "all_met";
inline constexpr char kNotAllMetVerdict[] = "not_all_met";
inline constexpr char kInvalidVerdict[] = "invalid";

// A probe that is about to run.
struct PlannedProbe {
  int number = 1;
  ProbeRequest request;
  ProbeTiming timing;

  // The bracket so far.
  std::optional<double> met;
  std::optional<double> missed;
};

// Told of the events of a run; false: end it, nobody waits for its result.
using ProgressWatcher = std::function<bool(const RunTestsEvent& event)>;

// Runs one test to its end, or until the watcher has seen enough. An error ends
// the search, which may go on with it later.
using TestRunner = std::function<absl::StatusOr<TestResult>(
    const DistributedSystemDescription& test, const ProgressWatcher& watch)>;

// All but `run` may be left out.
struct SearchCallbacks {
  TestRunner run;

  // Before each probe, and with what it said.
  std::function<void(const PlannedProbe& probe)> announce;
  std::function<void(const SearchReport& report, const SearchProbe& probe)>
      observe;

  // Events of the runs.
  std::function<void(const RunTestsEvent& event)> progress;

  // The wall clock; absl::Now if left out.
  std::function<absl::Time()> now;

  // With all that is known so far, after each probe and at the end. An error
  // ends the search.
  std::function<absl::Status(const TestSequenceResults& results)> save;
};

// Whether the search has ended, with a verdict on the system.
bool IsComplete(const SearchReport& report);

// Searches for the highest load, or runs plan.loads. results.searches(0) is the
// report; if it is there already, the search goes on after its probes, except
// those that failed. results.test_results holds the final runs or, before there
// is any, the last run.
//
// A run that failed, or of which an instance failed or fell behind, ends the
// search with kInvalidVerdict; it is in the report, and OK is returned. Errors
// are those of callbacks, or CheckResumable().
absl::Status RunLoadSearch(const SearchPlan& plan,
                           const SearchCallbacks& callbacks,
                           TestSequenceResults& results);

// Whether the plan is the one that these results are of, so that it can go on
// with them. The error (FAILED_PRECONDITION) says in what they differ.
absl::Status CheckResumable(const SearchPlan& plan,
                            const TestSequenceResults& results);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_SEARCH_RUN_H_
