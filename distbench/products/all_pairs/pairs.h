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

struct MeasuredPairs {
  std::vector<PairMatrix> matrices;  // by host first; none without such RPCs
  Usual usual;
  bool is_compared = false;                      // there are kEnoughHosts
  std::vector<ReportedPairs::Outlier> outliers;  // see outliers.h
};

// A host's name is that of its machine, or its node's alias if the machine has
// several nodes.
MeasuredPairs MeasurePairs(const TestResult& result);

// The outcome as lines of text, indented by two blanks; none without pairs.
std::vector<std::string> PairLines(const TestResult& result);

// Names outliers of tests of all pairs.
void JudgePairs(const TestResult& result, report::FindingList& findings);

}  // namespace distbench::all_pairs

#endif  // DISTBENCH_PRODUCTS_ALL_PAIRS_PAIRS_H_
