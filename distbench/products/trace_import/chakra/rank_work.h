// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a rank does, as its communications, and how long it computes between
// them: thousands of computations become one time for each pair of
// communications of which the later one waits for the earlier one.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_RANK_WORK_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_RANK_WORK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/products/trace_import/chakra/nodes.h"

namespace distbench::trace_import {

// The begin of a rank's work, as if it were a communication before all others.
inline constexpr int kBegin = -1;

// Times in microseconds from the ends of communications, by their positions or
// kBegin, ascending: whoever waits begins when all have passed.
using WaitsFor = std::map<int, int64_t>;

struct Communication {
  uint64_t node = 0;  // its id, for messages
  ChakraType type = ChakraType::kCollective;
  std::string operation;  // of a collective, as of CollectiveSpec
  std::string algorithm;  // as its name says; empty: it does not
  std::string group;      // empty: all ranks
  int64_t bytes = 0;      // of each rank, before the operation
  int64_t peer = 0;       // of a message: its other rank
  int64_t tag = 0;        // of a message
  WaitsFor waits_for;
};

struct RankWork {
  // In an order in which they can be done.
  std::vector<Communication> communications;
  WaitsFor end;

  std::string version;
  int64_t nodes = 0;
  int64_t computations = 0;
  int64_t computed_us = 0;  // the sum of their times
  // The time of an iteration if communications took none.
  int64_t critical_path_us = 0;
  std::map<std::string, int64_t> notes;  // as of ImportNotes
};

// Computations of one stream of the accelerator, or of one thread of the host,
// are done one after the other, in the order of their ids as far as
// dependencies allow, and so are the collectives of a group. INVALID_ARGUMENT
// says which node is wrong: its dependencies are a cycle, its id is not its
// own, its operation is none that distbench does, its size is 0, or it has no
// peer; or that there are too many communications.
absl::StatusOr<RankWork> WorkOf(const ChakraTrace& trace);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_RANK_WORK_H_
