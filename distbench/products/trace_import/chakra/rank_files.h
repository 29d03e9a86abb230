// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Traces of Chakra are a file per rank: NAME.0.et, NAME.1.et, ...

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_RANK_FILES_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_RANK_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace distbench::trace_import {

// The files by their ranks. One file may be of any rank, and need not have a
// number in its name. INVALID_ARGUMENT: one of several has none, two have the
// same, or one is missing.
absl::StatusOr<std::vector<std::string>> FilesByRank(
    absl::Span<const std::string> files);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_RANK_FILES_H_
