// Characters above U+FFFF as JSON may write them: "\ud83d\ude00", a pair of
// surrogates, which yaml-cpp refuses.

#ifndef DISTBENCH_CONFIG_READING_SURROGATE_PAIRS_H_
#define DISTBENCH_CONFIG_READING_SURROGATE_PAIRS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::config {

// Puts two escapes of a character that a text does not have in the place of
// each pair of escapes, and the pair's character back into what is read. All
// places in the text, which must outlive this, stay.
class SurrogatePairs {
 public:
  explicit SurrogatePairs(absl::string_view text);

  // The text for yaml-cpp.
  std::string Replaced() const;

  // Gives a scalar, which begins at a position of the text or after it, what
  // the text says. Scalars must come in the order of the text. In a scalar
  // without double quotes, escapes mean nothing and stay as they are written.
  void Restore(size_t position, std::string& scalar);

 private:
  const absl::string_view text_;
  std::vector<size_t> positions_;  // of the pairs
  std::string escapes_;            // the two that stand for a pair
  std::string characters_;         // what they are read as
  size_t next_ = 0;                // of the pairs
};

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_SURROGATE_PAIRS_H_
