// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The RPCs between instances of one service, by their hosts and by attributes
// of these: matrices, and what is out of line in them.

#ifndef DISTBENCH_PRODUCTS_ALL_PAIRS_PAIRS_H_
#define DISTBENCH_PRODUCTS_ALL_PAIRS_PAIRS_H_

#include <string>
#include <vector>

#include "distbench/products/all_pairs/outliers.h"
#include "distbench/products/all_pairs/report.pb.h"
#include "distbench/report/parts/finding_rule.h"
#include "proto/results.pb.h"

namespace distbench::all_pairs {

// The attribute of tests that `distbench all_pairs` makes: "steady" or "burst".
inline constexpr char kTestAttribute[] = "all_pairs";

// Whether reports of the test show its pairs without being asked.
bool IsAllPairs(const TestResult& result);

// How clients and servers are put together.
struct PairMatrix {
  // "host", or an attribute of nodes that several of them share, such as
  // "rack".
  std::string by;
  std::vector<std::string> names;     // in the order of numbers in them
  std::vector<PairTable::Row> cells;  // of pairs that there are, row by row
};

// What the latencies of all pairs of a test are: those that a caller
// experiences, as in other views. kMixed: of some RPCs response times, as they
// are sent by open loops, and of others service times.
enum class PairLatency { kResponse, kService, kMixed };

struct MeasuredPairs {
  std::vector<PairMatrix> matrices;  // by host first; none without such RPCs
  PairLatency latency = PairLatency::kService;

  // Whether "host" names nodes, because a machine has several of them.
  bool are_nodes = false;
  Usual usual;
  bool is_compared = false;                      // there are kEnoughHosts
  std::vector<ReportedPairs::Outlier> outliers;  // see outliers.h
};

// A host's name is that of its machine, or its node's alias if the machine has
// several nodes. Only RPCs that succeeded have latencies.
MeasuredPairs MeasurePairs(const TestResult& result);

// Returns "response", "service" or "mixed".
std::string PairLatencyName(PairLatency latency);

// The outcome as lines of text, indented by two blanks; none without pairs. Of
// a run that failed or is invalid, they do not say that nobody is out of line.
std::vector<std::string> PairLines(const TestResult& result);

// Names outliers of tests of all pairs.
void JudgePairs(const TestResult& result, report::FindingList& findings);

}  // namespace distbench::all_pairs

#endif  // DISTBENCH_PRODUCTS_ALL_PAIRS_PAIRS_H_
