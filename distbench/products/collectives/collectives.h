// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Collective operations in a result, in the words of their field: time per
// iteration, algorithm and bus bandwidth, ranks that are late.
//
// Everything that formats show is computed here, once.

#ifndef DISTBENCH_PRODUCTS_COLLECTIVES_COLLECTIVES_H_
#define DISTBENCH_PRODUCTS_COLLECTIVES_COLLECTIVES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/products/collectives/report.pb.h"
#include "distbench/report/parts/finding_rule.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::collectives {

// One operation of one group of ranks.
struct MeasuredCollective {
  CollectiveTable::Row row;
  std::vector<CollectiveRankTable::Row> ranks;  // by their coordinate
};

// The axis along which the ranks of a group are, as an index: 0 for x.
int AxisOf(const CollectiveSpec& spec);

// By the order of the actions in the config, then by group. Groups of which
// nothing is recorded are left out.
std::vector<MeasuredCollective> MeasureCollectives(const TestResult& result);

// How many messages a rank sends in the operation of an action, by the position
// of their RPC.
std::map<int, int64_t> MessagesByRpc(const DistributedSystemDescription& test,
                                     absl::string_view collective);

// The sizes of an RPC's requests by the number of the rank that they are for,
// if they differ; else none. Valid as long as the test.
absl::Span<const int64_t> SizesByRank(const DistributedSystemDescription& test,
                                      int rpc);

// By what the algorithm bandwidth (size / time) is multiplied to get the bus
// bandwidth, which does not depend on the number of ranks where links are the
// limit and all get the same. From
// https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md; 1 for
// operations that are not there.
double BusFactor(absl::string_view operation, int64_t ranks);

// Finds ranks for which the others wait, messages that are slow, and iterations
// that never ended.
void JudgeCollectives(const TestResult& result, report::FindingList& findings);

}  // namespace distbench::collectives

#endif  // DISTBENCH_PRODUCTS_COLLECTIVES_COLLECTIVES_H_
