#include "test_builder/parameters/parameter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "distbench/config/syntax/quantity.h"
#include "glog/logging.h"
#include "google/protobuf/text_format.h"

namespace distbench::test_builder {
namespace {

// Writes limits without an exponent.
std::string FormatLimit(double limit) {
  if (limit == std::floor(limit)) {
    return absl::StrCat(static_cast<int64_t>(limit));
  }
  return absl::StrCat(limit);
}

bool IsWord(absl::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isgraph(c) && c != '/';
         });
}

// Unlike absl::SimpleAtoi, rejects surrounding blanks and '+', which would end
// up in test names.
bool ParseInteger(absl::string_view text, int64_t& value) {
  const absl::string_view digits = text.substr(text.substr(0, 1) == "-");
  return !digits.empty() &&
         std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(text, &value);
}

bool ParseNumber(absl::string_view text, double& value) {
  return IsWord(text) && text[0] != '+' && absl::SimpleAtod(text, &value) &&
         std::isfinite(value);
}

bool Fits(const Parameter& parameter, const std::string& text) {
  const auto in_range = [&](double value) {
    return parameter.range.minimum <= value && value <= parameter.range.maximum;
  };
  int64_t integer;
  double number;
  switch (parameter.type) {
    case Parameter::Type::kInteger:
      return ParseInteger(text, integer) && in_range(integer);
    case Parameter::Type::kNumber:
      return ParseNumber(text, number) && in_range(number);
    case Parameter::Type::kChoice:
      return std::count(parameter.choices.begin(), parameter.choices.end(),
                        text) > 0;
    case Parameter::Type::kWord:
      return IsWord(text);
    case Parameter::Type::kText:
      return true;
    case Parameter::Type::kArrivals:
      return IsWord(text) && ParseArrivals(text).ok();
  }
  return false;
}

std::string DescribeRange(const Range& range) {
  if (range.maximum == Range{0}.maximum) {
    return absl::StrCat("at least ", FormatLimit(range.minimum));
  }
  return absl::StrCat(FormatLimit(range.minimum), " to ",
                      FormatLimit(range.maximum));
}

// How people write quantities of a unit: an example for help, and what reads
// them.
struct UnitSyntax {
  absl::string_view example;
  absl::StatusOr<double> (*parse)(absl::string_view text);
};

template <int64_t kNanoseconds>
absl::StatusOr<double> ParseDurationIn(absl::string_view text) {
  const absl::StatusOr<absl::Duration> duration =
      config::ParseDurationWithUnit(text);
  if (!duration.ok()) return duration.status();
  return absl::FDivDuration(*duration, absl::Nanoseconds(kNanoseconds));
}

// Requires that there is a unit.
UnitSyntax SyntaxOf(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      break;
    case Unit::kPerSecond:
      return {"1.5k/s", &config::ParseRateWithUnit};
    case Unit::kSeconds:
      // Whole seconds, because some of these parameters are integers.
      return {"2m", &ParseDurationIn<1'000'000'000>};
    case Unit::kMicroseconds:
      return {"16ms", &ParseDurationIn<1000>};
    case Unit::kBytes:
      return {"256KiB", [](absl::string_view text) -> absl::StatusOr<double> {
                return config::ParseSizeWithUnit(text);
              }};
  }
  return {};
}

std::string DescribeNumber(absl::string_view type, const Parameter& parameter) {
  const std::string range = DescribeRange(parameter.range);
  if (parameter.unit == Unit::kNone) return absl::StrCat(type, ", ", range);
  return absl::StrCat(type, ", ", range, ", or with a unit, such as ",
                      SyntaxOf(parameter.unit).example);
}

constexpr int64_t kTimeoutMarginSeconds = 120;
constexpr double kMaxDurationSeconds = 30 * 24 * 3600;

}  // namespace

Parameter IntegerParameter(absl::string_view name,
                           absl::string_view default_value, Range range,
                           absl::string_view meaning, Unit unit) {
  return {.name = std::string(name),
          .type = Parameter::Type::kInteger,
          .default_value = std::string(default_value),
          .meaning = std::string(meaning),
          .range = range,
          .unit = unit};
}

Parameter NumberParameter(absl::string_view name,
                          absl::string_view default_value, Range range,
                          absl::string_view meaning, Unit unit) {
  Parameter parameter =
      IntegerParameter(name, default_value, range, meaning, unit);
  parameter.type = Parameter::Type::kNumber;
  return parameter;
}

Parameter ChoiceParameter(absl::string_view name,
                          absl::string_view default_value,
                          std::vector<std::string> choices,
                          absl::string_view meaning) {
  Parameter parameter = TextParameter(name, default_value, meaning);
  parameter.type = Parameter::Type::kChoice;
  parameter.choices = std::move(choices);
  return parameter;
}

Parameter WordParameter(absl::string_view name, absl::string_view default_value,
                        absl::string_view meaning) {
  Parameter parameter = TextParameter(name, default_value, meaning);
  parameter.type = Parameter::Type::kWord;
  return parameter;
}

Parameter TextParameter(absl::string_view name, absl::string_view default_value,
                        absl::string_view meaning) {
  return {.name = std::string(name),
          .type = Parameter::Type::kText,
          .default_value = std::string(default_value),
          .meaning = std::string(meaning)};
}

Parameter ExcludedBy(absl::string_view other, Parameter parameter) {
  parameter.excluded_by = std::string(other);
  return parameter;
}

std::string FillForm(
    absl::string_view form,
    absl::FunctionRef<std::string(absl::string_view name, bool is_quoted)>
        value_of) {
  std::string filled;
  bool is_quoted = false;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '<') {
      const size_t end = form.find('>', i);
      filled += value_of(form.substr(i + 1, end - i - 1), is_quoted);
      i = end;
    } else {
      is_quoted ^= form[i] == '"';
      filled += form[i];
    }
  }
  return filled;
}

std::vector<Parameter> Joined(
    std::initializer_list<std::vector<Parameter>> lists) {
  std::vector<Parameter> joined;
  for (const std::vector<Parameter>& list : lists) {
    joined.insert(joined.end(), list.begin(), list.end());
  }
  return joined;
}

absl::Status ToStatus(absl::Span<const std::string> problems) {
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

std::string DescribeType(const Parameter& parameter) {
  switch (parameter.type) {
    case Parameter::Type::kInteger:
      return DescribeNumber("integer", parameter);
    case Parameter::Type::kNumber:
      return DescribeNumber("number", parameter);
    case Parameter::Type::kChoice:
      return absl::StrCat("one of ", absl::StrJoin(parameter.choices, ", "));
    case Parameter::Type::kWord:
      return "word without blanks and '/'";
    case Parameter::Type::kText:
      return "text";
    case Parameter::Type::kArrivals:
      return absl::StrCat("pieces with '+' between them: ", ArrivalsSyntax());
  }
  return "";
}

std::string PlainValue(const Parameter& parameter, const std::string& text) {
  if (parameter.unit == Unit::kNone) return text;
  const absl::StatusOr<double> number = SyntaxOf(parameter.unit).parse(text);
  return number.ok() ? absl::StrFormat("%.15g", *number) : text;
}

absl::StatusOr<ParameterValues> ParameterValues::Resolve(
    absl::Span<const Parameter> declared, const ValueMap& given) {
  ValueMap values;
  std::vector<std::string> problems;
  for (const Parameter& parameter : declared) {
    const auto found = given.find(parameter.name);
    const bool excluded = !parameter.excluded_by.empty() &&
                          given.find(parameter.excluded_by) != given.end();
    if (found == given.end()) {
      if (!parameter.default_value.empty() && !excluded) {
        values[parameter.name] = parameter.default_value;
      }
    } else if (excluded) {
      problems.push_back(absl::StrCat(parameter.name, " and ",
                                      parameter.excluded_by,
                                      " exclude each other; give one"));
    } else if (Fits(parameter, found->second)) {
      values[parameter.name] = found->second;
    } else {
      problems.push_back(absl::StrCat(parameter.name, "=", found->second,
                                      ": must be ", DescribeType(parameter)));
    }
  }
  absl::Status status = ToStatus(problems);
  if (!status.ok()) return status;
  return ParameterValues(std::move(values));
}

bool ParameterValues::Has(absl::string_view name) const {
  return values_.find(name) != values_.end();
}

const std::string& ParameterValues::Text(absl::string_view name) const {
  static const std::string& empty = *new std::string;
  const auto found = values_.find(name);
  return found == values_.end() ? empty : found->second;
}

int64_t ParameterValues::Integer(absl::string_view name) const {
  int64_t value = 0;
  CHECK(ParseInteger(Text(name), value)) << name;
  return value;
}

double ParameterValues::Number(absl::string_view name) const {
  double value = 0;
  CHECK(ParseNumber(Text(name), value)) << name;
  return value;
}

const std::vector<Parameter>& CommonParameters() {
  static const auto& parameters = *new std::vector<Parameter>{
      NumberParameter("test_duration", "30", {0.001, kMaxDurationSeconds},
                      "Seconds of traffic; -t sets it for all tests.",
                      Unit::kSeconds),
      IntegerParameter("test_timeout", "", {1},
                       "Time limit of the test in seconds. Default: "
                       "test_duration + 120.",
                       Unit::kSeconds),
      ChoiceParameter("ip_version", "", {"4", "6"},
                      "IP version; also as a bare word, ipv4 or ipv6. "
                      "Default: the host's choice."),
      {.name = kArrivals,
       .type = Parameter::Type::kArrivals,
       .default_value = "",
       .meaning =
           "Arrival process of the open loops, whose rate is that of factor 1, "
           "such as gamma:3, exponential+sine:1m:0.5 or bursts:5:1s:9s."},
      TextParameter("extra_test_contents", "",
                    "Fields in text format, added to the test; usually "
                    "extra_test_contents=<FILE."),
  };
  return parameters;
}

int64_t TestDurationUs(const ParameterValues& values) {
  return std::llround(values.Number("test_duration") * 1e6);
}

int64_t TestTimeoutSeconds(const ParameterValues& values) {
  if (values.Has("test_timeout")) return values.Integer("test_timeout");
  return std::llround(std::ceil(values.Number("test_duration"))) +
         kTimeoutMarginSeconds;
}

namespace {

// A piece of the syntax: its word, the values that follow it, for help, and its
// form of Arrivals in text format. Values between quotes are texts, others
// numbers.
struct Piece {
  absl::string_view word;
  absl::string_view values;
  absl::string_view form;
};

constexpr absl::string_view kSteps = "steps";

constexpr Piece kPieces[] = {
    {"constant", "", R"(process: "constant")"},
    {"exponential", "", R"(process: "exponential")"},
    {"gamma", ":VARIATION",
     R"(process: "gamma" coefficient_of_variation: <VARIATION>)"},
    {"kept", ":SHARE", "kept_share: <SHARE>"},
    {"sine", ":PERIOD:AMPLITUDE",
     R"(modulations { sine { period: "<PERIOD>" amplitude: <AMPLITUDE> } })"},
    {"on_off", ":ON:OFF",
     R"(modulations { on_off { on: "<ON>" off: "<OFF>" } })"},
    {"random_on_off", ":ON:OFF",
     R"(modulations { on_off {
          on: "<ON>" off: "<OFF>" times: "exponential"
        } })"},
    {"bursts", ":FACTOR:BURST:CALM",
     R"(modulations { markov {
          states { factor: <FACTOR> mean_duration: "<BURST>" }
          states { mean_duration: "<CALM>" }
        } })"},
    {"ramp", ":FROM:TO:TIME",
     R"(modulations { schedule { segments {
          factor: <FROM> to_factor: <TO> duration: "<TIME>"
        } } })"},
    {kSteps, ":FROM:TO:COUNT:EACH", ""},  // see StepsForm()
    {"random_phase", "", R"(client_phase: "random")"},
    {"spread_phase", "", R"(client_phase: "spread")"},
};

// Returns an empty form if FROM, TO or COUNT are wrong.
std::string StepsForm(const ValueMap& values) {
  constexpr int64_t kMaxSteps = 1000;
  double from = 0;
  double to = 0;
  int64_t count = 0;
  if (!absl::SimpleAtod(values.at("FROM"), &from) ||
      !absl::SimpleAtod(values.at("TO"), &to) ||
      !absl::SimpleAtoi(values.at("COUNT"), &count) || count < 2 ||
      count > kMaxSteps) {
    return "";
  }
  std::string segments;
  for (int64_t i = 0; i < count; ++i) {
    absl::StrAppendFormat(&segments,
                          "segments { factor: %.17g duration: \"<EACH>\" }\n",
                          from + (to - from) * static_cast<double>(i) /
                                     static_cast<double>(count - 1));
  }
  return absl::StrCat("modulations { schedule { ", segments, "} }");
}

// Whether the values, after the word, are those of the piece.
bool ParsePiece(const Piece& piece, const std::vector<std::string>& words,
                Arrivals& arrivals) {
  const std::vector<std::string> names = absl::StrSplit(piece.values, ':');
  if (names.size() != words.size()) return false;
  ValueMap values;
  for (size_t i = 0; i < names.size(); ++i) values[names[i]] = words[i];
  const std::string form =
      piece.word == kSteps ? StepsForm(values) : std::string(piece.form);
  bool is_valid = !form.empty();
  const std::string text =
      FillForm(form, [&](absl::string_view name, bool is_quoted) {
        const std::string& value = values.find(name)->second;
        if (is_quoted) return absl::CEscape(value);
        double number = 0;
        is_valid &= absl::SimpleAtod(value, &number);
        return absl::StrFormat("%.17g", number);
      });
  return is_valid &&
         google::protobuf::TextFormat::ParseFromString(text, &arrivals);
}

absl::Status AddPiece(absl::string_view text, Arrivals& arrivals) {
  const std::vector<std::string> words = absl::StrSplit(text, ':');
  for (const Piece& piece : kPieces) {
    if (words.front() != piece.word) continue;
    if (ParsePiece(piece, words, arrivals)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" must be ", piece.word, piece.values));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", words.front(), "\" is none of ", ArrivalsSyntax()));
}

// Modulations are multiplied; all else can be given only once.
bool HaveInCommon(const Arrivals& a, const Arrivals& b) {
  return (a.has_process() && b.has_process()) ||
         (a.has_kept_share() && b.has_kept_share()) ||
         (a.has_client_phase() && b.has_client_phase());
}

}  // namespace

absl::StatusOr<Arrivals> ParseArrivals(absl::string_view text) {
  Arrivals arrivals;
  for (absl::string_view piece : absl::StrSplit(text, '+')) {
    Arrivals part;
    if (absl::Status added = AddPiece(piece, part); !added.ok()) return added;
    if (HaveInCommon(arrivals, part)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", piece,
                       "\" replaces an earlier piece of its kind; "
                       "leave one of them out"));
    }
    arrivals.MergeFrom(part);
  }
  return arrivals;
}

std::string ArrivalsSyntax() {
  return absl::StrJoin(kPieces, ", ", [](std::string* out, const Piece& piece) {
    absl::StrAppend(out, piece.word, piece.values);
  });
}

}  // namespace distbench::test_builder
