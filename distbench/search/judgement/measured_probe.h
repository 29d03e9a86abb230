// What a run of a test says to a load search.

#ifndef DISTBENCH_SEARCH_JUDGEMENT_MEASURED_PROBE_H_
#define DISTBENCH_SEARCH_JUDGEMENT_MEASURED_PROBE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/report/objectives/judge_objective.h"
#include "distbench/search/strategy/load_search.h"
#include "proto/results.pb.h"

namespace distbench {

inline constexpr char kMetOutcome[] = "met";
inline constexpr char kMissedOutcome[] = "missed";
inline constexpr char kGeneratorLimitedOutcome[] = "generator_limited";
// The run failed: says nothing, and the search ends with it.
inline constexpr char kFailedOutcome[] = "failed";

struct MeasuredProbe {
  Probe probe;

  // For people: each objective's measurement in their order; then, if the load
  // was not generated, why not.
  std::vector<std::string> measured;

  // Of each objective: measured / limit, or its inverse for a lower limit.
  std::vector<double> load_of_limit;

  // One of the first three above.
  std::string outcome;
};

// Judges the run by the objective that was furthest from being met. The load
// was not generated if the generator sent less of it than it was asked to, or
// if its lateness alone made an objective be missed. ABORTED if the run failed.
absl::StatusOr<MeasuredProbe> MeasureProbe(
    const ProbeRequest& request, absl::Span<const Objective> objectives,
    const TestResult& result);

// All that was counted and measured of an RPC, all its clients together. RPCs
// that were due and never sent count as failed.
RpcStatistics StatisticsOf(const TestResult& result, int rpc_index);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_JUDGEMENT_MEASURED_PROBE_H_
