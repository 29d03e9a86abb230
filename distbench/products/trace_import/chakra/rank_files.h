// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Traces of Chakra are a file per rank: NAME.0.et, NAME.1.et, ...

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_RANK_FILES_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_RANK_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/products/trace_import/chakra/rank_work.h"

namespace distbench::trace_import {

// The files by their ranks. One file may be of any rank, and need not have a
// number in its name. INVALID_ARGUMENT: one of several has none, two have the
// same, or one is missing.
absl::StatusOr<std::vector<std::string>> FilesByRank(
    absl::Span<const std::string> files);

// What the ranks do whose files these are, by rank. Of each, the work is held,
// and not its at most `max_nodes` nodes. INVALID_ARGUMENT names the file.
absl::StatusOr<std::vector<RankWork>> ReadRanks(
    absl::Span<const std::string> files, int64_t max_nodes);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_RANK_FILES_H_
