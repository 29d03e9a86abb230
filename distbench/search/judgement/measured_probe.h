// Extracts from a run what the load search needs.

#ifndef DISTBENCH_SEARCH_JUDGEMENT_MEASURED_PROBE_H_
#define DISTBENCH_SEARCH_JUDGEMENT_MEASURED_PROBE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/search/judgement/judge_objective.h"
#include "distbench/search/strategy/load_search.h"
#include "proto/results.pb.h"

namespace distbench {

inline constexpr char kMetOutcome[] = "met";
inline constexpr char kMissedOutcome[] = "missed";
inline constexpr char kGeneratorLimitedOutcome[] = "generator_limited";
// The run failed. It says nothing about the load, and ends the search.
inline constexpr char kFailedOutcome[] = "failed";

struct MeasuredProbe {
  Probe probe;

  // For users: each objective's measurement, in order, and, if the load could
  // not be generated, the reason.
  std::vector<std::string> measured;

  // For each objective: measured / limit, or the inverse for a lower limit.
  std::vector<double> load_of_limit;

  // One of the first three outcomes above.
  std::string outcome;
};

// Judges the run by the objective that was furthest from being met. The load
// could not be generated if the generator sent too little, or if only its
// lateness made an objective miss. ABORTED if the run failed.
absl::StatusOr<MeasuredProbe> MeasureProbe(
    const ProbeRequest& request, absl::Span<const Objective> objectives,
    const TestResult& result);

// All counts and measurements of an RPC, over all its clients. The response
// times include RPCs that were never sent, with their waiting time as a lower
// bound.
RpcStatistics StatisticsOf(const TestResult& result, int rpc_index);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_JUDGEMENT_MEASURED_PROBE_H_
