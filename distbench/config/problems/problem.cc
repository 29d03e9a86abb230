#include "distbench/config/problems/problem.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {

std::string ToString(const Problem& problem) {
  if (problem.path.empty()) return problem.message;
  return absl::StrCat(problem.path, ": ", problem.message);
}

absl::Status ToStatus(absl::Span<const Problem> problems) {
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(
      problems, "\n", [](std::string* out, const Problem& problem) {
        absl::StrAppend(out, ToString(problem));
      }));
}

Path Path::Field(absl::string_view name) const {
  return Path(absl::StrCat(text_, text_.empty() ? "" : ".", name));
}

Path Path::At(int index) const {
  return Path(absl::StrCat(text_, "[", index, "]"));
}

Path Path::At(absl::string_view key) const {
  return Path(absl::StrCat(text_, "[", Quoted(key), "]"));
}

void Problems::Add(const Path& path, std::string message) {
  Add([&] { return Problem{path.text(), std::move(message)}; });
}

void Problems::Add(absl::FunctionRef<Problem()> problem) {
  if (full()) {
    ++dropped_count_;
  } else {
    kept_.push_back(problem());
  }
}

std::vector<Problem> Problems::Take() && {
  if (dropped_count_ > 0) {
    kept_.push_back(
        {"", absl::StrCat(dropped_count_, " more problems are not listed")});
    dropped_count_ = 0;
  }
  return std::move(kept_);
}

std::string ProblemOfRange(int64_t value, int64_t minimum, int64_t maximum) {
  if (value >= minimum && value <= maximum) return "";
  const std::string range =
      maximum < std::numeric_limits<int64_t>::max()
          ? absl::StrCat("from ", minimum, " to ", maximum)
          : absl::StrCat("at least ", minimum);
  return absl::StrCat(value, " is out of range; must be ", range);
}

void CheckRange(const Path& path, int64_t value, int64_t minimum,
                int64_t maximum, Problems& problems) {
  std::string problem = ProblemOfRange(value, minimum, maximum);
  if (!problem.empty()) problems.Add(path, std::move(problem));
}

}  // namespace distbench::config
