// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Lists of CPUs and NUMA nodes in the kernel's format: "0-3,8".

#ifndef DISTBENCH_BASE_INDEX_LIST_H_
#define DISTBENCH_BASE_INDEX_LIST_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::base {

using IndexSet = std::set<int>;

// Higher than any index that a kernel uses.
inline constexpr int kMaxIndex = 65'535;

// Parses numbers from 0 to kMaxIndex and ranges "first-last", in any order,
// separated by commas. White space around the list is ignored; an empty list is
// an empty set. INVALID_ARGUMENT says what is wrong.
absl::StatusOr<IndexSet> ParseIndexList(absl::string_view text);

// Returns the shortest list, ascending; "" for an empty set.
std::string FormatIndexList(const IndexSet& indices);

// Intersection(): members of both `a` and `b`. Without(): members of `a` that
// are not in `b`.
IndexSet Intersection(const IndexSet& a, const IndexSet& b);
IndexSet Without(const IndexSet& a, const IndexSet& b);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_INDEX_LIST_H_
