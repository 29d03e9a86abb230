// The probes of searches as comma-separated values.

#ifndef DISTBENCH_REPORT_TABLES_SEARCH_TABLE_H_
#define DISTBENCH_REPORT_TABLES_SEARCH_TABLE_H_

#include <string>

#include "distbench/stats/outcomes.h"
#include "proto/results.pb.h"

namespace distbench {

// The names of the columns, without a line end. The first fifteen are those of
// FeedSim's reports, the others are appended; docs/search.md explains each.
std::string SearchTableHeader();

// The row of a probe, with a line end; where several instances of the system
// ran side by side, below it a row for each of them. Counts and latencies are
// of the RPC that the first objective is about: response times, or service
// times in closed loops.
std::string SearchTableRows(const SearchReport& report,
                            const SearchProbe& probe);

// Response times, or service times if there are none; empty if they are
// damaged.
Outcomes ProbeLatency(const RpcStatistics& statistics);

// Whether the loads of the search are rates, those of all instances together.
bool LoadsAreRates(const SearchReport& report);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_TABLES_SEARCH_TABLE_H_
