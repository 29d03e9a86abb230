// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The searches in result files, and what reports say about them.

#ifndef DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCHES_H_
#define DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCHES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/base/json.h"
#include "distbench/report/comparison/capacity.h"
#include "distbench/report/measurements/test_run.h"
#include "proto/results.pb.h"

namespace distbench::search {

// One search; points into the results from which it was listed.
struct SourcedSearch {
  std::string source;
  const SearchReport* report = nullptr;
};

// In the order of the results.
std::vector<SourcedSearch> ListSearches(
    absl::Span<const report::SourcedResults> results);

// The key "searches" of the JSON document.
base::Json SearchesJson(absl::Span<const SourcedSearch> searches);

// Whether the results are those of searches or NUMA comparisons, whose runs
// have the loads that a search chose.
bool HasSearches(const TestSequenceResults& results);

// Whether a search in the results found that its own numbers are false.
bool HasInvalidSearch(const TestSequenceResults& results);

// The verdicts and the loads of all searches in the results, such as
// "converged: 348.2 (340.8 to 367.3) iterations per second, met, not proven at
// 95 %".
std::string AnswersOf(const TestSequenceResults& results);

// What was searched for: "highest iterations per second with cpu<=60%".
std::string QuestionOf(const SearchReport& search);

// Compares searches for the same question by their loads, and by the latencies
// of their final runs: of the calls that succeeded the mean, and percentiles.
// Searches that did not converge have no load to compare: they are counted.
using Searches = std::vector<const SearchReport*>;
report::CapacityComparison CompareQuestion(const std::string& question,
                                           const Searches& base,
                                           const Searches& next);

// Compares all searches, by their questions: deployment, objectives, knob and
// unit; see report::CompareCapacities(). Notes those that did not converge.
report::CapacityComparisons CompareSearches(
    absl::Span<const report::SourcedResults> base,
    absl::Span<const report::SourcedResults> next,
    bool allow_different_traffic);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCHES_H_
