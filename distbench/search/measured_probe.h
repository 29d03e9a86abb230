// What a run of a test says to a load search.

#ifndef DISTBENCH_SEARCH_MEASURED_PROBE_H_
#define DISTBENCH_SEARCH_MEASURED_PROBE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/search/load_search.h"
#include "distbench/search/objective.h"
#include "proto/results.pb.h"

namespace distbench {

struct MeasuredProbe {
  Probe probe;

  // For people: each objective's measurement, and why the load was not
  // generated, if it was not.
  std::string measured;

  // "met", "missed" or "generator_limited".
  std::string outcome;
};

// Judges the run by the objective that was furthest from being met. The load
// was not generated if the generator sent less of it than it was asked to, or
// if its lateness alone made an objective be missed.
absl::StatusOr<MeasuredProbe> MeasureProbe(
    const ProbeRequest& request, absl::Span<const Objective> objectives,
    const TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_MEASURED_PROBE_H_
