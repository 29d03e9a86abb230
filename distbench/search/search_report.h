// A search's probes as its report keeps them.

#ifndef DISTBENCH_SEARCH_SEARCH_REPORT_H_
#define DISTBENCH_SEARCH_SEARCH_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/search/judgement/measured_probe.h"
#include "distbench/search/search_plan.h"
#include "distbench/search/search_run.h"
#include "distbench/search/strategy/load_search.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench {

// What the run of a probe came to. `test`: of one copy of the system. A run
// that failed, or in which copies of the system failed or fell behind although
// the objectives were met, has the outcome kFailedOutcome. The error is that
// the result does not say what the objectives are about.
absl::StatusOr<SearchProbe> ReportProbe(
    const SearchPlan& plan, const PlannedProbe& planned,
    const DistributedSystemDescription& test, const TestResult& result);

// Of a run that was ended early, as it could only miss by far.
SearchProbe ReportHopelessProbe(const PlannedProbe& planned,
                                absl::string_view evidence,
                                const LogHistogram& response_time_ns,
                                int64_t start_timestamp_ns,
                                int64_t end_timestamp_ns);

// What the search makes of a probe that did not fail. INVALID_ARGUMENT if it is
// of no known phase.
absl::StatusOr<Probe> ToProbe(const SearchProbe& probe);

// RPCs of the first objective per second, whether they succeeded or failed; 0
// if none ended.
double RateOf(const SearchProbe& probe);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_SEARCH_REPORT_H_
