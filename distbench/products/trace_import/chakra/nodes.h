// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Execution traces of MLCommons' Chakra: what a rank of a training job does, as
// a graph of computations and communications.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_NODES_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_NODES_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::trace_import {

// With the numbers of the schema.
enum class ChakraType {
  kInvalid,
  kMetadata,
  kLoad,
  kStore,
  kCompute,
  kSend,
  kReceive,
  kCollective
};

// What is used of a node. Its tensors are not.
struct ChakraNode {
  uint64_t id = 0;
  std::string name;  // of communications, cut off at 80 bytes
  ChakraType type = ChakraType::kInvalid;
  std::vector<uint64_t> data_deps;
  int64_t duration_us = 0;  // 0 to kMaxDurationUs

  // Of those that are not of the accelerator: what its host does.
  bool is_on_host = false;
  int64_t stream = 0;  // of the accelerator
  int64_t thread = 0;  // of the host
  // Whether it says how much it computes, by which a simulator could tell a
  // time that is not recorded.
  bool has_operations = false;

  // Of communications.
  std::optional<int64_t> comm_type;
  std::optional<int64_t> comm_size;  // bytes
  std::optional<int64_t> comm_src;
  std::optional<int64_t> comm_dst;
  int64_t comm_tag = 0;
  std::string group;  // empty: of all ranks
  bool has_partial_dimensions = false;
};

// What protobuf's readers count to.
inline constexpr int64_t kMaxChakraBytes = std::numeric_limits<int32_t>::max();

// A day; no step of a job takes longer, and sums do not overflow.
inline constexpr int64_t kMaxDurationUs = int64_t{86'400} * 1'000'000;

struct ChakraTrace {
  std::vector<ChakraNode> nodes;  // in the order of the file
  std::string version;            // of the schema; empty: it does not say
};

// Reads the trace of one rank: messages of protobuf as Chakra's tools write
// them (.et), the JSON that chakra_jsonizer makes of these, or the JSON with a
// "workload_graph" that Chakra's feeder reads. Besides the text, only what is
// used of the nodes is held. The text has at most kMaxChakraBytes.
// INVALID_ARGUMENT says at which node or byte the text is not a trace, or that
// there are more than `max_nodes`.
absl::StatusOr<ChakraTrace> ReadChakra(absl::string_view text,
                                       int64_t max_nodes);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_NODES_H_
