// Which parameters a test may have: those of its pattern, of its protocol, and
// those of every test.

#ifndef DISTBENCH_TEST_BUILDER_VOCABULARY_H_
#define DISTBENCH_TEST_BUILDER_VOCABULARY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "test_builder/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/protocols/protocol.h"

namespace distbench {

class Vocabulary {
 public:
  // Of the pattern and the protocol that `settings` name; the protocol is gRPC
  // if they name none. The error says what there is to choose from.
  static absl::StatusOr<Vocabulary> For(const ValueMap& settings);

  const Pattern& pattern() const { return *pattern_; }
  const Protocol& protocol() const { return *protocol_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  // Null if `name` is not among parameters().
  const Parameter* Find(absl::string_view name) const {
    return FindParameter(parameters_, name);
  }

  // The parameter that was meant by a name that is none: one within two
  // insertions, deletions and replacements.
  std::optional<std::string> MeantBy(absl::string_view name) const;

 private:
  Vocabulary(const Pattern& pattern, const Protocol& protocol);

  const Pattern* pattern_;
  const Protocol* protocol_;
  std::vector<Parameter> parameters_;
};

// Whether `name` is set by test_builder itself, from other values.
bool IsDerived(absl::string_view name);

// The patterns and protocols that do have a parameter of that name, such as
// "clique, rectangular"; empty if there are none.
std::string WhereKnown(absl::string_view name);

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_VOCABULARY_H_
