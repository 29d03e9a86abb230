// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/problems/problem.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

// The length of the quoted text at the beginning, with its quotes; 0 if it has
// no end.
size_t QuotedLength(absl::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return 0;
}

// Of paths, outside of quotes, and of what ends them.
bool IsOfPath(char c) {
  return absl::ascii_isalnum(c) || absl::StrContains("_.[]\":", c);
}

// The element that `rest` begins with, after "[". Absent if it is none;
// otherwise removes it from `rest`, with its "]".
std::optional<PathStep> TakeElement(absl::string_view& rest) {
  PathStep step;
  const bool is_key = absl::StartsWith(rest, "\"");
  const size_t length = is_key ? QuotedLength(rest) : rest.find(']');
  if (length >= rest.size() || rest[length] != ']') return std::nullopt;
  const absl::string_view text = rest.substr(0, length);
  if (is_key) {
    step.quoted_key = text;
  } else if (!absl::SimpleAtoi(text, &step.index)) {
    return std::nullopt;
  }
  rest.remove_prefix(length + 1);
  return step;
}

}  // namespace

std::string ToString(const Problem& problem) {
  if (problem.path.empty()) return problem.message;
  return absl::StrCat(problem.path, ": ", problem.message);
}

Problem ProblemFrom(absl::string_view line) {
  size_t length = 0;
  while (length < line.size() && IsOfPath(line[length])) {
    const absl::string_view rest = line.substr(length);
    if (length > 0 && absl::StartsWith(rest, ": ")) {
      return {std::string(line.substr(0, length)), std::string(rest.substr(2))};
    }
    length += rest[0] == '"' ? std::max<size_t>(QuotedLength(rest), 1) : 1;
  }
  return {"", std::string(line)};
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

std::vector<PathStep> StepsOf(absl::string_view path) {
  std::vector<PathStep> steps;
  while (!path.empty()) {
    if (absl::ConsumePrefix(&path, "[")) {
      const std::optional<PathStep> element = TakeElement(path);
      if (!element.has_value()) break;
      steps.push_back(*element);
      continue;
    }
    absl::ConsumePrefix(&path, ".");
    const size_t length = std::min(path.find_first_of(".["), path.size());
    if (length == 0) break;
    steps.push_back({path.substr(0, length)});
    path.remove_prefix(length);
  }
  return steps;
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
