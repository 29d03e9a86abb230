// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A search that is ready to run, made from its config and flags.

#ifndef DISTBENCH_PRODUCTS_SEARCH_SEARCH_PLAN_H_
#define DISTBENCH_PRODUCTS_SEARCH_SEARCH_PLAN_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/products/search/knobs/knob.h"
#include "distbench/products/search/strategy/load_search.h"
#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {

struct SearchTiming {
  absl::Duration warmup = absl::Seconds(2);  // of each probe
  absl::Duration probe = absl::Seconds(10);  // at length 1
  absl::Duration final_run = absl::Seconds(60);

  // Traffic of all probes together.
  absl::Duration max_total = absl::InfiniteDuration();

  // A probe is long enough for this many expected RPCs above an objective's
  // percentile.
  int min_tail_samples = 100;
};

struct SearchPlan {
  // The complete request, with defaults filled in.
  LoadSearchSpec spec;

  // The test as it was given; empty if the knob builds its tests.
  DistributedSystemDescription test;

  std::unique_ptr<Knob> knob;
  std::vector<config::Objective> objectives;
  SearchOptions options;
  SearchTiming timing;

  // Copies of the system that run side by side. The load is the total of all
  // copies if it is a rate; other loads apply to each copy.
  int instances = 1;

  // The CPUs of each copy (see system_copies.h); empty: wherever the nodes are.
  std::vector<std::string> cpu_slices;

  // Probes run on simulated hosts: on which (0: as many as the test needs).
  bool is_simulated = false;
  SimulatedFabric simulated_fabric;
  int simulated_hosts = 0;

  // The cell of the test's experiment that probes are runs of; a name is empty
  // if there is no choice.
  std::string controls;
  std::string antagonist;

  // If not empty: run each of these loads once instead of searching.
  std::vector<double> loads;
};

// `test` must be canonical. `spec` overrides the test's own `search` field by
// field, and its objectives replace the test's. INVALID_ARGUMENT if there are
// no objectives, or if anything does not fit the test.
absl::StatusOr<SearchPlan> PlanSearch(const LoadSearchSpec& spec,
                                      const DistributedSystemDescription& test,
                                      int instances = 1);

// Makes the plan run these loads, if any, instead of searching.
// INVALID_ARGUMENT if one of them is not a load of the knob.
absl::Status RunLoads(std::vector<double> loads, SearchPlan& plan);

// Whether an objective is on isolation: the plan's probes must then be cells of
// the test's experiment (isolation_part.h).
bool MeasuresIsolation(const SearchPlan& plan);

// The load of each copy of the system if that of all together is `load`.
double LoadOfCopy(const SearchPlan& plan, double load);

// The test for a probe of the plan, with all copies, ready to run.
absl::StatusOr<DistributedSystemDescription> ProbeTest(
    const SearchPlan& plan, double load, const ProbeTiming& timing);

// How long a probe measures: the length that is asked for or, in a search, as
// much longer as it takes for enough RPCs to be above an objective's
// percentile. `rate` is the expected RPCs per second; 0 if unknown.
absl::Duration AskedTime(const SearchPlan& plan, const ProbeRequest& request);
absl::Duration ProbeTime(const SearchPlan& plan, const ProbeRequest& request,
                         double rate);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_SEARCH_PLAN_H_
