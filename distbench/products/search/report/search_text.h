// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCH_TEXT_H_
#define DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCH_TEXT_H_

#include <optional>
#include <string>
#include <vector>

#include "distbench/stats/outcomes.h"
#include "proto/results.pb.h"

namespace distbench::search {

// Summarises a search for users. Lines have no line ends.
std::vector<std::string> SummarizeSearch(const SearchReport& report);

// The answer of a search, as text.

// Returns the load with its confidence interval and unit, for example "350 (342
// to 357) iterations per second, met, not proven at 95 %". A bound that is
// absent is "?". Reports of earlier versions have no interval. Nor have lists
// of loads, of which it says what is known of each: "200 iterations per second;
// met: 100, 200; undecided at 95 %: 400 (missed)". Empty if no load met.
std::string SearchAnswer(const SearchReport& report);

// The answer after what it is, such as "highest load that met: 350 ..." or,
// where final runs decided, "highest load whose final runs met: ...". Empty if
// no load met.
std::string AnswerLine(const SearchReport& report);

// Of a list of loads, the hardest that met while no easier one missed, if any.
std::optional<double> AnswerOfList(const SearchReport& report);

// A load with four digits, or all of those of a whole number.
std::string LoadText(double load);

// A line about a probe that has ended, such as "  probe 3 (refine) at 350: met,
// query p99 1.8 ms", without its end.
std::string ProbeText(const SearchProbe& probe);

// What there is to say of a probe besides its measurements, a line each: which
// copies failed, and what disturbed it.
std::vector<std::string> RemarksOn(const SearchProbe& probe);

// What makes the answer doubtful, as a sentence: loads of a list that met
// although easier ones missed, and probes that other programs disturbed. Empty
// if nothing does.
std::string DoubtOf(const SearchReport& report);

// Renders the probes of searches as comma-separated values.

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

#endif  // DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCH_TEXT_H_
