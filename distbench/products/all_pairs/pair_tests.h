// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_ALL_PAIRS_PAIR_TESTS_H_
#define DISTBENCH_PRODUCTS_ALL_PAIRS_PAIR_TESTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/traffic_config.pb.h"

namespace distbench::all_pairs {

struct PairOptions {
  int node_count = 0;
  std::string protocol = "grpc";
  int64_t request_size = 1024;
  int64_t response_size = 1024;

  // Of each pair, in each direction.
  double rate_per_second = 20;

  // Of each of the two tests, after a warm-up of a second.
  absl::Duration duration = absl::Seconds(10);
};

// The most RPCs per second that a node sends: a cluster of many nodes gets a
// lower rate of each pair.
inline constexpr double kMostPerNode = 2000;

// What takes longer has failed: a host that no longer answers is named, not
// waited for.
inline constexpr absl::Duration kPairDeadline = absl::Seconds(5);

// Two tests of as many nodes: "steady", in which each node calls one other
// after the other at random times, so that RPCs do not meet; and "burst", in
// which all nodes call all others at the same moments. Canonical.
// INVALID_ARGUMENT if there are fewer than two nodes.
absl::StatusOr<TestSequence> MakePairTests(const PairOptions& options);

}  // namespace distbench::all_pairs

#endif  // DISTBENCH_PRODUCTS_ALL_PAIRS_PAIR_TESTS_H_
