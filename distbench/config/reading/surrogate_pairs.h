// Characters above U+FFFF as JSON may write them: "\ud83d\ude00", a pair of
// surrogates, which yaml-cpp refuses.

#ifndef DISTBENCH_CONFIG_READING_SURROGATE_PAIRS_H_
#define DISTBENCH_CONFIG_READING_SURROGATE_PAIRS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::config {

// A text with YAML's own escapes, "\U0001f600", in place of the pairs of
// another one.
class SurrogatePairs {
 public:
  explicit SurrogatePairs(absl::string_view text);

  // The text for yaml-cpp.
  const std::string& replaced() const { return replaced_; }

  // By how much the part between two positions of replaced() is shorter than
  // that of the text.
  int MissingBetween(size_t begin, size_t end) const;

  // Gives a scalar without double quotes, which begins at a position of
  // replaced(), what the text says: escapes mean nothing there.
  void Restore(size_t position, std::string& scalar) const;

 private:
  struct Pair {
    size_t position;      // in replaced_
    std::string written;  // in the text
  };

  std::vector<Pair>::const_iterator FirstFrom(size_t position) const;

  std::string replaced_;
  std::vector<Pair> pairs_;
};

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_SURROGATE_PAIRS_H_
