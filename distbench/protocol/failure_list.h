#ifndef DISTBENCH_PROTOCOL_FAILURE_LIST_H_
#define DISTBENCH_PROTOCOL_FAILURE_LIST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace distbench {

// The first few of the peers that failed, each with its reason, and how many
// more there are: "a (refused), b (refused) and 7 more".
inline std::string ListFailures(std::vector<std::string> failures) {
  constexpr size_t kMaxNamed = 3;
  if (failures.size() <= kMaxNamed) return absl::StrJoin(failures, ", ");
  const size_t unnamed = failures.size() - kMaxNamed;
  failures.resize(kMaxNamed);
  return absl::StrCat(absl::StrJoin(failures, ", "), " and ", unnamed, " more");
}

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_FAILURE_LIST_H_
