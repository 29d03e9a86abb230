// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Extracts from a run what the load search needs.

#ifndef DISTBENCH_PRODUCTS_SEARCH_JUDGEMENT_MEASURED_PROBE_H_
#define DISTBENCH_PRODUCTS_SEARCH_JUDGEMENT_MEASURED_PROBE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/products/search/strategy/load_search.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/objectives.h"
#include "proto/results.pb.h"

namespace distbench::search {

inline constexpr char kMetOutcome[] = "met";
inline constexpr char kMissedOutcome[] = "missed";
inline constexpr char kGeneratorLimitedOutcome[] = "generator_limited";
// See IsTooLow().
inline constexpr char kTooLowOutcome[] = "too_low";
// The run failed. It says nothing about the load, and ends the search.
inline constexpr char kFailedOutcome[] = "failed";

struct MeasuredProbe {
  Probe probe;

  // For users: each objective's measurement, in order, and, if the probe says
  // little about the load, the reason.
  std::vector<std::string> measured;

  // For each objective: measured / limit, or the inverse for a lower limit.
  std::vector<double> load_of_limit;

  // One of the outcomes above but the last two.
  std::string outcome;
};

// Judges the run by the objective that was furthest from being met. The load
// could not be generated if the generator sent too little, or if only its
// lateness made an objective miss. A run that was too much for the system
// (report/measurements/run_outcome.h) missed by far.
//
// An invalid run never meets: where its numbers are false because requests
// failed, it missed; where they were not sent, or not in time, the load could
// not be generated. ABORTED if the run was lost, or is invalid for a reason
// that says nothing about the load.
//
// If latencies were still growing, and not by plan, a miss is infinite, and the
// error of anything else unknown (see Probe).
//
// Here and below, `totals` are those of the result.
absl::StatusOr<MeasuredProbe> MeasureProbe(
    const ProbeRequest& request, absl::Span<const config::Objective> objectives,
    const TestResult& result, const report::TestTotals& totals);

// A probe that is known to have missed by far without a measurement.
MeasuredProbe MissedByFar(const ProbeRequest& request, std::string reason);

// Whether the probe missed nothing but lower limits of rates, which are above
// what was asked of the system: what the open loops of their RPCs offered, and
// whatever closed loops ask, as it depends on their number of iterations. More
// load may then meet, if it raises the rate (Knob::raises_rate()).
bool IsTooLow(const MeasuredProbe& measured,
              absl::Span<const config::Objective> objectives,
              const TestResult& result, const report::TestTotals& totals);

// The outcome of a probe that did not fail, as records have it.
std::string OutcomeOf(const Probe& probe);

// All that was counted and measured of an RPC, all its clients together. RPCs
// that were due and never sent count as failed.
RpcStatistics StatisticsOf(const TestResult& result,
                           const report::TestTotals& totals, int rpc_index);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_JUDGEMENT_MEASURED_PROBE_H_
