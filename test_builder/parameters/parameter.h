// Parameters of patterns and protocols, and the values that a test gives them.

#ifndef TEST_BUILDER_PARAMETERS_PARAMETER_H_
#define TEST_BUILDER_PARAMETERS_PARAMETER_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
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

namespace distbench::test_builder {

// Maps the names of parameters to their values, as text.
using ValueMap = std::map<std::string, std::string, std::less<>>;

struct Range {
  double minimum;
  double maximum = 2147483647;
};

// What a number counts. Users may instead write the quantity with its unit,
// such as "16ms"; PlainValue() converts it.
enum class Unit { kNone, kPerSecond, kSeconds, kMicroseconds, kBytes };

struct Parameter {
  enum class Type {
    kInteger,
    kNumber,
    kChoice,  // one of `choices`
    kWord,    // visible characters except '/', so that it fits into a file name
    kText,    // anything
    kArrivals,  // see ParseArrivals()
  };

  std::string name;
  Type type;
  std::string default_value;  // empty: no default
  std::string meaning;        // a sentence for the help
  Range range = {0};          // of kInteger and kNumber, inclusive
  std::vector<std::string> choices = {};

  // Name of a parameter that replaces this one: if it is given, this one has no
  // default and must not be given.
  std::string excluded_by = {};

  Unit unit = Unit::kNone;  // of kInteger and kNumber
};

Parameter IntegerParameter(absl::string_view name,
                           absl::string_view default_value, Range range,
                           absl::string_view meaning, Unit unit = Unit::kNone);
Parameter NumberParameter(absl::string_view name,
                          absl::string_view default_value, Range range,
                          absl::string_view meaning, Unit unit = Unit::kNone);
Parameter ChoiceParameter(absl::string_view name,
                          absl::string_view default_value,
                          std::vector<std::string> choices,
                          absl::string_view meaning);
Parameter WordParameter(absl::string_view name, absl::string_view default_value,
                        absl::string_view meaning);
Parameter TextParameter(absl::string_view name, absl::string_view default_value,
                        absl::string_view meaning);

// Returns the parameter, which must not be given together with `other`, and
// without a default if that is given.
Parameter ExcludedBy(absl::string_view other, Parameter parameter);

// All of the lists, one after the other.
std::vector<Parameter> Joined(
    std::initializer_list<std::vector<Parameter>> lists);

// OK if there are no problems; otherwise INVALID_ARGUMENT with one per line.
absl::Status ToStatus(absl::Span<const std::string> problems);

// Describes valid values, for help and errors: "integer, at least 2".
std::string DescribeType(const Parameter& parameter);

// Returns the number for a quantity that has its unit, in the parameter's unit:
// "1500" for "1.5k/s". Returns other text as it is.
std::string PlainValue(const Parameter& parameter, const std::string& text);

// A form is a text with holes, "<NAME>". Returns it with their values;
// `is_quoted`: the hole stands between quotes.
std::string FillForm(
    absl::string_view form,
    absl::FunctionRef<std::string(absl::string_view name, bool is_quoted)>
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

  // Require that the parameter has a value, and that its type is kInteger (for
  // Number(): kNumber or kInteger).
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

// The duration of the traffic.
int64_t TestDurationUs(const ParameterValues& values);

// The test's time limit in whole seconds: the requested one, or else the
// duration plus two minutes for set-up and collection of results.
int64_t TestTimeoutSeconds(const ParameterValues& values);

// Name of the parameter.
inline constexpr char kArrivals[] = "arrivals";

// Parses an arrival process as command lines have it: pieces with '+' between
// them, each a word and its values with ':' between them. Words are those of
// ArrivalsSyntax(). INVALID_ARGUMENT quotes the piece. The message may still be
// invalid: values are checked together with the test.
absl::StatusOr<Arrivals> ParseArrivals(absl::string_view text);

// The pieces, for help and errors.
std::string ArrivalsSyntax();

}  // namespace distbench::test_builder

#endif  // TEST_BUILDER_PARAMETERS_PARAMETER_H_
