// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Parameters of patterns and protocols, and the values that a test gives them.

#ifndef DISTBENCH_TEST_BUILDER_PARAMETERS_PARAMETER_H_
#define DISTBENCH_TEST_BUILDER_PARAMETERS_PARAMETER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.pb.h"

namespace distbench::test_builder {

// Maps the names of parameters to their values, as text.
using ValueMap = std::map<std::string, std::string, std::less<>>;

// A declaration in text format, which must be right.
Parameter ParameterFrom(absl::string_view declaration);

// All of the lists, one after the other.
template <typename... Lists>
std::vector<Parameter> Joined(const Lists&... lists) {
  std::vector<Parameter> joined;
  (joined.insert(joined.end(), lists.begin(), lists.end()), ...);
  return joined;
}

// Of lists of messages that have a name, such as parameters: their names, in
// the same order; and the first one of that name, null if there is none.
template <typename List>
std::vector<std::string> NamesOf(const List& all) {
  std::vector<std::string> names;
  for (const auto& each : all) names.push_back(each.name());
  return names;
}
template <typename List>
const typename List::value_type* FindByName(const List& all,
                                            absl::string_view name) {
  for (const auto& each : all) {
    if (each.name() == name) return &each;
  }
  return nullptr;
}

// OK if there are no problems; otherwise INVALID_ARGUMENT with one per line.
absl::Status ToStatus(absl::Span<const std::string> problems);

// Describes valid values, for help and errors: "integer, at least 2".
std::string DescribeType(const Parameter& parameter);

// Returns the number for a quantity that has its unit, in the parameter's unit:
// "1500" for "1.5k/s". Returns other text as it is.
std::string PlainValue(const Parameter& parameter, const std::string& text);

// A form is a text with holes, "<HOLE>". Returns it with their values;
// `is_quoted`: the hole stands between quotes.
std::string FillForm(
    absl::string_view form,
    absl::FunctionRef<std::string(absl::string_view hole, bool is_quoted)>
        value_of);

// Checked values of a set of parameters: each has the right type and is in
// range, and defaults are filled in.
class ParameterValues {
 public:
  // Ignores undeclared names in `given`. The error lists every invalid value,
  // one per line.
  static absl::StatusOr<ParameterValues> Resolve(
      absl::Span<const Parameter> declared, const ValueMap& given);

  // Whether the parameter has a value, given or by default.
  bool Has(absl::string_view name) const;

  // The value as written; empty if there is none.
  const std::string& Text(absl::string_view name) const;

  // Require that the parameter has a value, and that its type is INTEGER (for
  // Number(): NUMBER or INTEGER).
  int64_t Integer(absl::string_view name) const;
  double Number(absl::string_view name) const;

  // All non-empty values, by name.
  const ValueMap& all() const { return values_; }

 private:
  explicit ParameterValues(ValueMap values) : values_(std::move(values)) {}

  ValueMap values_;
};

// Parameters of every test, whatever its pattern and protocol.
const std::vector<Parameter>& CommonParameters();

// Name of the one that is an arrival process.
inline constexpr char kArrivals[] = "arrivals";

// The duration of the traffic.
int64_t TestDurationUs(const ParameterValues& values);

// The test's time limit in whole seconds: the requested one, or else the
// duration plus two minutes for set-up and collection of results.
int64_t TestTimeoutSeconds(const ParameterValues& values);

// Parses an arrival process as command lines have it, such as
// "exponential+sine:1m:0.5": pieces with '+' between them, each a word and its
// values with ':' between them. Words are those of ArrivalsSyntax().
// INVALID_ARGUMENT quotes the piece. The message may still be invalid: values
// are checked together with the test.
absl::StatusOr<Arrivals> ParseArrivals(absl::string_view text);

// The pieces, for help and errors.
std::string ArrivalsSyntax();

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PARAMETERS_PARAMETER_H_
