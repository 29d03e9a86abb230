// The parameters that a test may have: those of its pattern, of its protocol,
// and of every test.

#ifndef DISTBENCH_TEST_BUILDER_BUILDING_VOCABULARY_H_
#define DISTBENCH_TEST_BUILDER_BUILDING_VOCABULARY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/named.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {

class Vocabulary {
 public:
  // The vocabulary for the pattern and the protocol in `settings`; the protocol
  // defaults to gRPC. The error lists the choices.
  static absl::StatusOr<Vocabulary> For(const ValueMap& settings);

  const Pattern& pattern() const { return *pattern_; }
  const Protocol& protocol() const { return *protocol_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  // Returns null if `name` is not among parameters().
  const Parameter* Find(absl::string_view name) const {
    return base::FindNamed(parameters_, name);
  }

  // The parameter that an unknown name probably means: one within two typing
  // errors, as config::EditDistance() counts them.
  std::optional<std::string> MeantBy(absl::string_view name) const;

 private:
  Vocabulary(const Pattern& pattern, const Protocol& protocol);

  const Pattern* pattern_;
  const Protocol* protocol_;
  std::vector<Parameter> parameters_;
};

// Whether test_builder itself sets `name`, from other values.
bool IsDerived(absl::string_view name);

// The patterns and protocols that have a parameter with this name, such as
// "clique, rectangular"; empty if there are none.
std::string WhereKnown(absl::string_view name);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_BUILDING_VOCABULARY_H_
