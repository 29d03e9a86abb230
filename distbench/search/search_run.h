// Runs the probes of a search on a system, and tells of each.

#ifndef DISTBENCH_SEARCH_SEARCH_RUN_H_
#define DISTBENCH_SEARCH_SEARCH_RUN_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/search/load_search.h"
#include "distbench/search/measured_probe.h"
#include "distbench/search/objective.h"
#include "distbench/search/rate_knob.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

struct SearchTiming {
  absl::Duration warmup = absl::Seconds(2);  // of each probe
  absl::Duration probe = absl::Seconds(10);  // at length 1
  absl::Duration final_run = absl::Seconds(60);

  // A probe lasts at least until so many RPCs are expected above the
  // percentile that an objective is about.
  int min_tail_samples = 100;
};

// Runs one test to its end; an error ends the search.
using TestRunner = std::function<absl::StatusOr<TestResult>(
    const DistributedSystemDescription& test)>;

// Told of each probe: number from 1, what it said, and its result.
using ProbeObserver = std::function<void(int number, const MeasuredProbe& probe,
                                         const TestResult& result)>;

// Told before each probe what it will be and how long it takes.
using ProbeAnnouncer =
    std::function<void(int number, const ProbeRequest& request,
                       absl::Duration warmup, absl::Duration measured)>;

struct SearchCallbacks {
  TestRunner run;
  ProbeAnnouncer announce;
  ProbeObserver observe;
};

// How long the probe measures.
absl::Duration ProbeTime(const ProbeRequest& request,
                         const SearchTiming& timing,
                         absl::Span<const Objective> objectives);

// Searches for the highest load. The error is that of a test that failed.
absl::StatusOr<SearchResult> RunLoadSearch(
    const SearchOptions& options, const SearchTiming& timing,
    const RateKnob& knob, absl::Span<const Objective> objectives,
    const SearchCallbacks& callbacks);

// Runs each load once, for the time of a final run; returns whether all met the
// objectives.
absl::StatusOr<bool> RunLoadList(absl::Span<const double> loads,
                                 const SearchTiming& timing,
                                 const RateKnob& knob,
                                 absl::Span<const Objective> objectives,
                                 const SearchCallbacks& callbacks);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_SEARCH_RUN_H_
