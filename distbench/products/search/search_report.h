// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Probes in the form in which a search's report stores them.

#ifndef DISTBENCH_PRODUCTS_SEARCH_SEARCH_REPORT_H_
#define DISTBENCH_PRODUCTS_SEARCH_SEARCH_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/search/judgement/measured_probe.h"
#include "distbench/products/search/search_plan.h"
#include "distbench/products/search/search_run.h"
#include "distbench/products/search/strategy/load_search.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench::search {

// Reports a probe from its result. `test` is the test of one copy of the
// system. The outcome is kFailedOutcome if the run was lost, is invalid for a
// reason other than its load, or lacks the objectives' measurements, or if
// copies failed or fell behind although the objectives were met.
SearchProbe ReportProbe(const SearchPlan& plan, const PlannedProbe& planned,
                        const DistributedSystemDescription& test,
                        const TestResult& result);

// Reports a run that was ended early because it could only miss by far.
SearchProbe ReportHopelessProbe(const PlannedProbe& planned,
                                absl::string_view evidence,
                                const stats::LogHistogram& response_time_ns,
                                int64_t start_timestamp_ns,
                                int64_t end_timestamp_ns);

// Converts a probe that did not fail for the load search. INVALID_ARGUMENT if
// its phase is unknown.
absl::StatusOr<Probe> ToProbe(const SearchProbe& probe);

// The outcomes of the first objective's RPC per second, on which its
// percentiles rest: requests that succeeded, failed or were never sent. 0 if
// there are none.
double RateOf(const SearchProbe& probe);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_SEARCH_REPORT_H_
