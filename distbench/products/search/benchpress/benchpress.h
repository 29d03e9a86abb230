// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Renders searches in the format in which DCPerf's benchpress reports FeedSim.

#ifndef DISTBENCH_PRODUCTS_SEARCH_BENCHPRESS_BENCHPRESS_H_
#define DISTBENCH_PRODUCTS_SEARCH_BENCHPRESS_BENCHPRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/products/search/report/searches.h"
#include "distbench/report/measurements/test_run.h"
#include "proto/results.pb.h"

namespace distbench::search {

struct BenchpressOptions {
  // Render only FeedSim's keys, and as strings those numbers that are strings
  // there.
  bool strict_legacy = false;
};

// Returns one JSON object, or an array if there are several searches;
// docs/products/search.md lists the keys. Unknown values are left out, or null
// where readers expect the key. `runs` must come from the same files.
// FAILED_PRECONDITION if there is no search, or if a search's loads are not
// rates.
absl::StatusOr<std::string> RenderBenchpress(
    absl::Span<const SourcedSearch> searches,
    absl::Span<const report::TestRun> runs, const BenchpressOptions& options);

// The search as one of the instances saw it that ran side by side (from 1): its
// share of the loads if they are rates, its own measurements, and nothing of
// the others. Verdict, evidence and CPU use remain those of all, on which the
// search was decided. Probes that were ended early have no measurements of
// single instances and are left out. INVALID_ARGUMENT if there is no such
// instance.
absl::StatusOr<SearchReport> ReportOfInstance(const SearchReport& all,
                                              int instance);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_BENCHPRESS_BENCHPRESS_H_
