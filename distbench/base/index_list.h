// Lists of CPUs and NUMA nodes as the kernel writes them: "0-3,8".

#ifndef DISTBENCH_BASE_INDEX_LIST_H_
#define DISTBENCH_BASE_INDEX_LIST_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench {

using IndexSet = std::set<int>;

// More than any kernel numbers.
inline constexpr int kMaxIndex = 65'535;

// Numbers from 0 to kMaxIndex and ranges "first-last", in any order, separated
// by commas; white space around the list is ignored, and an empty list is an
// empty set. INVALID_ARGUMENT says what is wrong.
absl::StatusOr<IndexSet> ParseIndexList(absl::string_view text);

// The shortest list, ascending; "" for an empty set.
std::string FormatIndexList(const IndexSet& indices);

// Those of `a` that are in `b` as well, and those that are not.
IndexSet Intersection(const IndexSet& a, const IndexSet& b);
IndexSet Without(const IndexSet& a, const IndexSet& b);

}  // namespace distbench

#endif  // DISTBENCH_BASE_INDEX_LIST_H_
