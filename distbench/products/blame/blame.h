// Who is to blame for the tail: what slow requests waited for, from the traces
// of a result.

#ifndef DISTBENCH_PRODUCTS_BLAME_BLAME_H_
#define DISTBENCH_PRODUCTS_BLAME_BLAME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/base/json.h"
#include "distbench/products/blame/request_tree.h"
#include "distbench/products/blame/stragglers.h"
#include "distbench/products/blame/tail_shares.h"
#include "distbench/products/blame/what_if.h"
#include "distbench/report/measurements/test_run.h"
#include "proto/results.pb.h"

namespace distbench::blame {

// Positions in kBlamedQuantiles.
inline constexpr int kMedian = 0;
inline constexpr int kTail = 1;

// The requests that are one RPC.
struct RequestBlame {
  TracedRequests requests;

  // One for each of kBlamedQuantiles.
  std::vector<TailWindow> windows;
  std::vector<QuantileShares> shares;

  std::vector<Straggler> stragglers;

  // Absent if there are too few traces for a p99.
  std::optional<WhatIfs> what_ifs;

  // What all of this comes to: texts for people, the most important first.
  std::vector<std::string> sentences;
};

struct TestBlame {
  std::vector<RequestBlame> requests = {};
  int64_t rootless_count = 0;
  int64_t dropped_sample_count = 0;
};

// Analyses the traces of a test. Absent if it traced no requests.
std::optional<TestBlame> FindBlame(const TestResult& result);

// The same for requests of one kind.
RequestBlame BlameFor(TracedRequests requests);

// How to get traces, for tests that have none.
inline constexpr char kNoTraces[] =
    "The test traced no requests. To trace them, give the RPC that begins a "
    "request a tracing_interval, such as 100 for every 100th; set "
    "measure_time_parts: true to divide the time of each RPC.";

// Private to blame.h.

// Returns RequestBlame::sentences; uses everything else of `blame`.
std::vector<std::string> SentencesOf(const RequestBlame& blame);

// Returns "87% (80% to 93%)".
std::string ShareText(const BlameEstimate& share);

// Returns "p99" or "p99.9".
std::string PercentileText(double quantile);

// Says for each run who is to blame for its tail, in lines of text.
std::string BlameText(absl::Span<const report::TestRun> runs);

// Says who is to blame for the tail. Null if no requests were traced.
base::Json BlameJson(const TestResult& result);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_BLAME_H_
