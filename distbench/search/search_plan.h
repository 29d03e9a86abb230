// A search, ready to run: what its config and its flags come to.

#ifndef DISTBENCH_SEARCH_SEARCH_PLAN_H_
#define DISTBENCH_SEARCH_SEARCH_PLAN_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/config/search/objective.h"
#include "distbench/search/knobs/knob.h"
#include "distbench/search/knobs/probe_config.h"
#include "distbench/search/strategy/load_search.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

struct SearchTiming {
  absl::Duration warmup = absl::Seconds(2);  // of each probe
  absl::Duration probe = absl::Seconds(10);  // at length 1
  absl::Duration final_run = absl::Seconds(60);

  // Of the traffic of all probes together.
  absl::Duration max_total = absl::InfiniteDuration();

  // A probe lasts at least until so many RPCs are expected above the
  // percentile that an objective is about.
  int min_tail_samples = 100;
};

struct SearchPlan {
  // All of what was asked for, with defaults filled in.
  LoadSearchSpec spec;

  std::unique_ptr<Knob> knob;
  std::vector<Objective> objectives;
  SearchOptions options;
  SearchTiming timing;

  // Copies of the system that run side by side. The load of a rate is that of
  // all of them together; other loads are each copy's own.
  int instances = 1;

  // Not empty: run these loads instead of a search, each once.
  std::vector<double> loads;
};

// `test`: canonical. `spec` wins over the test's own `search`, field by field;
// its objectives replace those of the test. INVALID_ARGUMENT if there are no
// objectives, or if anything does not fit the test.
absl::StatusOr<SearchPlan> PlanSearch(const LoadSearchSpec& spec,
                                      const DistributedSystemDescription& test,
                                      int instances = 1);

// The test of a probe of the plan: all instances, ready to run.
absl::StatusOr<DistributedSystemDescription> ProbeTest(
    const SearchPlan& plan, double load, const ProbeTiming& timing);

// How long a probe measures. `rate`: RPCs per second to expect, 0 if unknown.
absl::Duration ProbeTime(const SearchPlan& plan, const ProbeRequest& request,
                         double rate);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_SEARCH_PLAN_H_
