// What is wrong with a config, and where.

#ifndef DISTBENCH_CONFIG_PROBLEMS_PROBLEM_H_
#define DISTBENCH_CONFIG_PROBLEMS_PROBLEM_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench {

struct Problem {
  std::string path;     // such as `tests[0].actions["run"].rpc_name`
  std::string message;  // "what is wrong; what would be right"

  friend bool operator==(const Problem& a, const Problem& b) {
    return a.path == b.path && a.message == b.message;
  }
};

// "path: message".
std::string ToString(const Problem& problem);

// OK if there are no problems, else INVALID_ARGUMENT with one per line.
absl::Status ToStatus(absl::Span<const Problem> problems);

// A place in a config. Immutable.
class Path {
 public:
  Path() = default;
  explicit Path(absl::string_view text) : text_(text) {}

  // Steps to a field, to an element by position, and to one by name or key.
  Path Field(absl::string_view name) const;
  Path At(int index) const;
  Path At(absl::string_view key) const;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Collects problems in the order in which they are found. Keeps kMaxKept of
// them and counts the rest, so that hopeless input stays cheap.
class Problems {
 public:
  static constexpr int kMaxKept = 200;

  void Add(const Path& path, std::string message);

  // Whether what is added from now on is only counted: a chance not to compute
  // an expensive message.
  bool full() const { return kept_.size() >= kMaxKept; }

  // How many were added.
  int64_t count() const { return dropped_count_ + kept_.size(); }

  // The problems; the last one tells how many more there are.
  std::vector<Problem> Take() &&;

 private:
  std::vector<Problem> kept_;
  int64_t dropped_count_ = 0;
};

// Adds a problem at path unless minimum <= value <= maximum.
void CheckRange(const Path& path, int64_t value, int64_t minimum,
                int64_t maximum, Problems& problems);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_PROBLEMS_PROBLEM_H_
