// Renders the probes of searches as comma-separated values.

#ifndef DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCH_TABLE_H_
#define DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCH_TABLE_H_

#include <string>

#include "distbench/stats/outcomes.h"
#include "proto/results.pb.h"

namespace distbench::search {

// Returns the column names, without a line end. The first fifteen are those of
// FeedSim's reports; the others are appended. docs/products/search.md explains
// them all.
std::string SearchTableHeader();

// Returns the row of a probe, with a line end. If several instances of the
// system ran side by side, one row for each follows. Counts and latencies are
// those of the RPC in the first objective: response times, or service times in
// closed loops.
std::string SearchTableRows(const SearchReport& report,
                            const SearchProbe& probe);

// The response times, or the service times if there are none; empty if they are
// damaged.
stats::Outcomes ProbeLatency(const RpcStatistics& statistics);

// Whether the search's loads are rates, summed over all instances.
bool LoadsAreRates(const SearchReport& report);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCH_TABLE_H_
