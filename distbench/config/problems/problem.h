// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Problems of a config, and where they are.
//
//   Problems problems;
//   problems.Add(Path("tests").At(0).Field("seed"), "is negative; ...");
//   return ToStatus(std::move(problems).Take());

#ifndef DISTBENCH_CONFIG_PROBLEMS_PROBLEM_H_
#define DISTBENCH_CONFIG_PROBLEMS_PROBLEM_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::config {

struct Problem {
  std::string path;     // for example `tests[0].actions["run"].rpc_name`
  std::string message;  // "what is wrong; what would be right"

  friend bool operator==(const Problem& a, const Problem& b) {
    return a.path == b.path && a.message == b.message;
  }
};

// Formats a problem as "path: message".
std::string ToString(const Problem& problem);

// Reads what ToString() has written. A line of other words has no path.
Problem ProblemFrom(absl::string_view line);

// OK if there are no problems; otherwise INVALID_ARGUMENT with one per line.
absl::Status ToStatus(absl::Span<const Problem> problems);

// A location in a config. Immutable.
class Path {
 public:
  Path() = default;
  explicit Path(absl::string_view text) : text_(text) {}

  // Extend the path by a field, a position, or a name or map key.
  Path Field(absl::string_view name) const;
  Path At(int index) const;
  Path At(absl::string_view key) const;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A part of a path: a field, or which of its elements.
struct PathStep {
  absl::string_view field;       // empty: an element
  absl::string_view quoted_key;  // of an element: Quoted() name or map key,
  int index = 0;                 // or else its position
};

// The parts of a path that Path has made, whose text they are views of. Ends
// before what no Path would contain.
std::vector<PathStep> StepsOf(absl::string_view path);

// Collects problems in order. Keeps the first kMaxKept and counts the rest, so
// that hopeless input stays cheap.
class Problems {
 public:
  static constexpr int kMaxKept = 200;

  // Parts of the message are put together as by absl::StrCat().
  template <typename... Parts>
  void Add(const Path& path, const Parts&... message) {
    Add([&] { return Problem{path.text(), absl::StrCat(message...)}; });
  }

  // The same, for a problem that takes time to make: it is made only if it is
  // kept.
  void Add(absl::FunctionRef<Problem()> problem);

  // Whether further problems are only counted. Callers can then skip checks
  // that are expensive.
  bool full() const { return kept_.size() >= kMaxKept; }

  // The number of problems added, including those not kept.
  int64_t count() const { return dropped_count_ + kept_.size(); }

  // Returns the problems. If some were dropped, the last one says how many.
  std::vector<Problem> Take() &&;

 private:
  std::vector<Problem> kept_;
  int64_t dropped_count_ = 0;
};

// What is wrong with a value that is below the minimum or above the maximum;
// empty if it is right.
std::string ProblemOfRange(int64_t value, int64_t minimum, int64_t maximum);

// Adds a problem at path unless minimum <= value <= maximum.
void CheckRange(const Path& path, int64_t value, int64_t minimum,
                int64_t maximum, Problems& problems);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_PROBLEMS_PROBLEM_H_
