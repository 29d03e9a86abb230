// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The schedules of collective operations: which rank sends what to which other
// one, and what it must have received before.
//
// All ranks run the same list of actions; which peer a step has, or whether it
// has one, follows from the fanout filter of its RPC and the rank's number.
// Every RPC reaches a rank from one other rank only, and what it receives by an
// RPC it receives in the order in which the other one has sent it.

#ifndef TEST_BUILDER_PATTERNS_COLLECTIVE_SCHEDULE_H_
#define TEST_BUILDER_PATTERNS_COLLECTIVE_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"

namespace distbench::test_builder {

struct Collective {
  // Of its action, its list and the beginning of names of its RPCs.
  std::string name;
  // As of CollectiveSpec, and of AlgorithmsOf().
  std::string operation;
  std::string algorithm;
  std::string axis = "x";
  int64_t ranks = 2;  // along the axis
  int64_t size = 1;   // bytes
  int64_t chunks = 1;
  // Of all_to_all: rank n gets a share in proportion to 1/(n+1)^skew.
  double skew = 0;
  // Of a pipeline: the delay distribution of its computations; empty: none.
  std::string compute;
};

// The algorithms of an operation; the default is the first one.
std::vector<std::string> AlgorithmsOf(absl::string_view operation);

// Adds the operation to a test with the service "rank": its RPCs, payloads,
// actions, and the list of these, which the action of its name runs; after the
// action `after`, if that is not empty. INVALID_ARGUMENT says in the words of
// the patterns' parameters what does not go together.
absl::Status AddCollective(const Collective& collective,
                           absl::string_view after,
                           DistributedSystemDescription& test);

}  // namespace distbench::test_builder

#endif  // TEST_BUILDER_PATTERNS_COLLECTIVE_SCHEDULE_H_
