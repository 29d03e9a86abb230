#include "distbench/protocol/failure_list.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace distbench {

void FailureList::Add(std::string failure) {
  if (absl::c_linear_search(failures_, failure)) return;
  failures_.push_back(std::move(failure));
}

std::string FailureList::ToString() const {
  constexpr size_t kMaxNamed = 3;
  const size_t named = std::min(failures_.size(), kMaxNamed);
  const std::string names =
      absl::StrJoin(failures_.begin(), failures_.begin() + named, ", ");
  if (named == failures_.size()) return names;
  return absl::StrCat(names, " and ", failures_.size() - named, " more");
}

}  // namespace distbench
