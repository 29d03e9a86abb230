#include "test_builder/parameters/parameter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "distbench/config/syntax/quantity.h"
#include "glog/logging.h"

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

// Returns what follows the range in a description; empty without a unit.
absl::string_view DescribeUnit(Parameter::Unit unit) {
  switch (unit) {
    case Parameter::Unit::kNone:
      return "";
    case Parameter::Unit::kPerSecond:
      return ", or with a unit, such as 1.5k/s";
    case Parameter::Unit::kSeconds:
      // Whole seconds, because some of these parameters are integers.
      return ", or with a unit, such as 2m";
    case Parameter::Unit::kMicroseconds:
      return ", or with a unit, such as 16ms";
    case Parameter::Unit::kBytes:
      return ", or with a unit, such as 256KiB";
  }
  return "";
}

absl::StatusOr<double> ParseDurationIn(absl::Duration unit,
                                       absl::string_view text) {
  const absl::StatusOr<absl::Duration> duration =
      config::ParseDurationWithUnit(text);
  if (!duration.ok()) return duration.status();
  return absl::FDivDuration(*duration, unit);
}

absl::StatusOr<double> ParseWithUnit(Parameter::Unit unit,
                                     absl::string_view text) {
  switch (unit) {
    case Parameter::Unit::kNone:
      break;
    case Parameter::Unit::kPerSecond:
      return config::ParseRateWithUnit(text);
    case Parameter::Unit::kSeconds:
      return ParseDurationIn(absl::Seconds(1), text);
    case Parameter::Unit::kMicroseconds:
      return ParseDurationIn(absl::Microseconds(1), text);
    case Parameter::Unit::kBytes:
      return config::ParseSizeWithUnit(text);
  }
  return absl::InvalidArgumentError("has no unit");
}

constexpr int64_t kTimeoutMarginSeconds = 120;
constexpr double kMaxDurationSeconds = 30 * 24 * 3600;

}  // namespace

Parameter IntegerParameter(absl::string_view name,
                           absl::string_view default_value, Range range,
                           absl::string_view meaning) {
  return {std::string(name), Parameter::Type::kInteger,
          std::string(default_value), std::string(meaning), range};
}

Parameter NumberParameter(absl::string_view name,
                          absl::string_view default_value, Range range,
                          absl::string_view meaning) {
  return {std::string(name), Parameter::Type::kNumber,
          std::string(default_value), std::string(meaning), range};
}

Parameter ChoiceParameter(absl::string_view name,
                          absl::string_view default_value,
                          std::vector<std::string> choices,
                          absl::string_view meaning) {
  return {std::string(name),
          Parameter::Type::kChoice,
          std::string(default_value),
          std::string(meaning),
          {0},
          std::move(choices)};
}

Parameter WordParameter(absl::string_view name, absl::string_view default_value,
                        absl::string_view meaning) {
  return {std::string(name), Parameter::Type::kWord, std::string(default_value),
          std::string(meaning)};
}

Parameter TextParameter(absl::string_view name, absl::string_view default_value,
                        absl::string_view meaning) {
  return {std::string(name), Parameter::Type::kText, std::string(default_value),
          std::string(meaning)};
}

Parameter ArrivalsParameter(absl::string_view name, absl::string_view meaning) {
  return {std::string(name), Parameter::Type::kArrivals, "",
          std::string(meaning)};
}

Parameter ExcludedBy(absl::string_view other, Parameter parameter) {
  parameter.excluded_by = std::string(other);
  return parameter;
}

Parameter PerSecond(Parameter parameter) {
  parameter.unit = Parameter::Unit::kPerSecond;
  return parameter;
}

Parameter InSeconds(Parameter parameter) {
  parameter.unit = Parameter::Unit::kSeconds;
  return parameter;
}

Parameter InMicroseconds(Parameter parameter) {
  parameter.unit = Parameter::Unit::kMicroseconds;
  return parameter;
}

Parameter InBytes(Parameter parameter) {
  parameter.unit = Parameter::Unit::kBytes;
  return parameter;
}

std::vector<Parameter> Joined(
    std::initializer_list<std::vector<Parameter>> lists) {
  std::vector<Parameter> joined;
  for (const std::vector<Parameter>& list : lists) {
    joined.insert(joined.end(), list.begin(), list.end());
  }
  return joined;
}

std::string DescribeType(const Parameter& parameter) {
  switch (parameter.type) {
    case Parameter::Type::kInteger:
      return absl::StrCat("integer, ", DescribeRange(parameter.range),
                          DescribeUnit(parameter.unit));
    case Parameter::Type::kNumber:
      return absl::StrCat("number, ", DescribeRange(parameter.range),
                          DescribeUnit(parameter.unit));
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
  const absl::StatusOr<double> number = ParseWithUnit(parameter.unit, text);
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
  if (!problems.empty()) {
    return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
  }
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
      InSeconds(
          NumberParameter("test_duration", "30", {0.001, kMaxDurationSeconds},
                          "Seconds of traffic; -t sets it for all tests.")),
      InSeconds(IntegerParameter("test_timeout", "", {1},
                                 "Time limit of the test in seconds. Default: "
                                 "test_duration + 120.")),
      ChoiceParameter("ip_version", "", {"4", "6"},
                      "IP version; also as a bare word, ipv4 or ipv6. "
                      "Default: the host's choice."),
      ArrivalsParameter(
          kArrivals,
          "Arrival process of the open loops, whose rate is that of factor 1, "
          "such as gamma:3, exponential+sine:1m:0.5 or bursts:5:1s:9s."),
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

constexpr int64_t kMaxSteps = 1000;

// The values of a piece, after its word.
class PieceValues {
 public:
  explicit PieceValues(std::vector<std::string> values)
      : values_(std::move(values)) {}

  size_t count() const { return values_.size(); }
  const std::string& Text(size_t i) const { return values_[i]; }
  double Number(size_t i) {
    double number = 0;
    is_valid_ &= absl::SimpleAtod(values_[i], &number);
    return number;
  }
  int64_t Integer(size_t i) {
    int64_t number = 0;
    is_valid_ &= absl::SimpleAtoi(values_[i], &number);
    return number;
  }
  void Require(bool condition) { is_valid_ &= condition; }
  bool is_valid() const { return is_valid_; }

 private:
  const std::vector<std::string> values_;
  bool is_valid_ = true;
};

void AddGamma(PieceValues& values, Arrivals& arrivals) {
  arrivals.set_process("gamma");
  arrivals.set_coefficient_of_variation(values.Number(0));
}

void AddKept(PieceValues& values, Arrivals& arrivals) {
  arrivals.set_kept_share(values.Number(0));
}

void AddSine(PieceValues& values, Arrivals& arrivals) {
  SineRate& sine = *arrivals.add_modulations()->mutable_sine();
  sine.set_period(values.Text(0));
  sine.set_amplitude(values.Number(1));
}

void AddOnOff(PieceValues& values, Arrivals& arrivals) {
  OnOffRate& on_off = *arrivals.add_modulations()->mutable_on_off();
  on_off.set_on(values.Text(0));
  on_off.set_off(values.Text(1));
}

void AddRandomOnOff(PieceValues& values, Arrivals& arrivals) {
  AddOnOff(values, arrivals);
  arrivals.mutable_modulations()->rbegin()->mutable_on_off()->set_times(
      "exponential");
}

void AddBursts(PieceValues& values, Arrivals& arrivals) {
  MarkovRate& markov = *arrivals.add_modulations()->mutable_markov();
  RateState& burst = *markov.add_states();
  burst.set_factor(values.Number(0));
  burst.set_mean_duration(values.Text(1));
  markov.add_states()->set_mean_duration(values.Text(2));
}

void AddRamp(PieceValues& values, Arrivals& arrivals) {
  RateSegment& ramp =
      *arrivals.add_modulations()->mutable_schedule()->add_segments();
  ramp.set_factor(values.Number(0));
  ramp.set_to_factor(values.Number(1));
  ramp.set_duration(values.Text(2));
}

void AddSteps(PieceValues& values, Arrivals& arrivals) {
  const double from = values.Number(0);
  const double to = values.Number(1);
  const int64_t count = values.Integer(2);
  values.Require(count >= 2 && count <= kMaxSteps);
  if (!values.is_valid()) return;
  RateSchedule& schedule = *arrivals.add_modulations()->mutable_schedule();
  for (int64_t i = 0; i < count; ++i) {
    RateSegment& step = *schedule.add_segments();
    step.set_factor(from + (to - from) * static_cast<double>(i) /
                               static_cast<double>(count - 1));
    step.set_duration(values.Text(3));
  }
}

struct Piece {
  const char* word;
  const char* values;  // for help
  size_t value_count;
  void (*add)(PieceValues& values, Arrivals& arrivals);
};

void SetConstant(PieceValues&, Arrivals& arrivals) {
  arrivals.set_process("constant");
}

void SetExponential(PieceValues&, Arrivals& arrivals) {
  arrivals.set_process("exponential");
}

void StartAtRandom(PieceValues&, Arrivals& arrivals) {
  arrivals.set_client_phase("random");
}

void StartSpread(PieceValues&, Arrivals& arrivals) {
  arrivals.set_client_phase("spread");
}

constexpr Piece kPieces[] = {
    {"constant", "", 0, SetConstant},
    {"exponential", "", 0, SetExponential},
    {"gamma", ":VARIATION", 1, AddGamma},
    {"kept", ":SHARE", 1, AddKept},
    {"sine", ":PERIOD:AMPLITUDE", 2, AddSine},
    {"on_off", ":ON:OFF", 2, AddOnOff},
    {"random_on_off", ":ON:OFF", 2, AddRandomOnOff},
    {"bursts", ":FACTOR:BURST:CALM", 3, AddBursts},
    {"ramp", ":FROM:TO:TIME", 3, AddRamp},
    {"steps", ":FROM:TO:COUNT:EACH", 4, AddSteps},
    {"random_phase", "", 0, StartAtRandom},
    {"spread_phase", "", 0, StartSpread},
};

absl::Status AddPiece(absl::string_view text, Arrivals& arrivals) {
  std::vector<std::string> values = absl::StrSplit(text, ':');
  const std::string word = values.front();
  values.erase(values.begin());
  for (const Piece& piece : kPieces) {
    if (word != piece.word) continue;
    PieceValues given(std::move(values));
    if (given.count() == piece.value_count) {
      piece.add(given, arrivals);
      if (given.is_valid()) return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" must be ", piece.word, piece.values));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", word, "\" is none of ", ArrivalsSyntax()));
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
