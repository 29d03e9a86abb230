// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/parameters/parameter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
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
    return parameter.minimum() <= value && value <= parameter.maximum();
  };
  int64_t integer;
  double number;
  switch (parameter.type()) {
    case Parameter::TEXT:
      return true;
    case Parameter::WORD:
      return IsWord(text);
    case Parameter::CHOICE:
      return std::count(parameter.choices().begin(), parameter.choices().end(),
                        text) > 0;
    case Parameter::INTEGER:
      return ParseInteger(text, integer) && in_range(integer);
    case Parameter::NUMBER:
      return ParseNumber(text, number) && in_range(number);
    case Parameter::ARRIVALS:
      return IsWord(text) && ParseArrivals(text).ok();
  }
  return false;
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

absl::StatusOr<double> ParseSize(absl::string_view text) {
  return config::ParseSizeWithUnit(text);
}

// By Parameter::Unit. Seconds are whole, because some of these parameters are
// integers.
constexpr UnitSyntax kUnits[] = {{},
                                 {"1.5k/s", &config::ParseRateWithUnit},
                                 {"2m", &ParseDurationIn<1'000'000'000>},
                                 {"16ms", &ParseDurationIn<1000>},
                                 {"256KiB", &ParseSize}};

std::string DescribeNumber(absl::string_view type, const Parameter& parameter) {
  std::string text =
      absl::StrCat(type, ", ", parameter.has_maximum() ? "" : "at least ",
                   FormatLimit(parameter.minimum()));
  if (parameter.has_maximum()) {
    absl::StrAppend(&text, " to ", FormatLimit(parameter.maximum()));
  }
  if (parameter.unit() == Parameter::NO_UNIT) return text;
  return absl::StrCat(text, ", or with a unit, such as ",
                      kUnits[parameter.unit()].example);
}

// "a, b or c".
std::string Alternatives(const Parameter& parameter) {
  const auto& choices = parameter.choices();
  if (choices.empty()) return "";
  return absl::StrCat(absl::StrJoin(choices.begin(), choices.end() - 1, ", "),
                      choices.size() > 1 ? " or " : "", *choices.rbegin());
}

// What is wrong with giving the parameter without what it needs; empty if that
// is given, too.
std::string WhatItNeeds(const Parameter& parameter,
                        absl::Span<const Parameter> declared,
                        const ValueMap& given) {
  if (parameter.needs().empty()) return "";
  const std::vector<std::string> needs = absl::StrSplit(parameter.needs(), '=');
  const std::string& name = needs.front();
  const bool any_value = needs.size() == 1;
  const auto found = given.find(name);
  const bool is_given = found != given.end();
  if (is_given && (any_value || found->second == needs.back())) return "";
  const Parameter* needed = FindByName(declared, name);
  return absl::StrCat(
      parameter.name(), " has no effect with ",
      is_given ? absl::StrCat(name, "=", found->second) : "no " + name,
      "; remove it, or add ", name, "=",
      !any_value          ? needs.back()
      : needed != nullptr ? Alternatives(*needed)
                          : "");
}

// What is wrong with this value; empty if it is right.
std::string ProblemOf(const Parameter& parameter, const std::string& value,
                      absl::Span<const Parameter> declared,
                      const ValueMap& given) {
  if (given.contains(parameter.excluded_by())) {
    return absl::StrCat(parameter.name(), " and ", parameter.excluded_by(),
                        " exclude each other; give one");
  }
  if (!Fits(parameter, value)) {
    return absl::StrCat(parameter.name(), "=", value, ": must be ",
                        DescribeType(parameter));
  }
  return WhatItNeeds(parameter, declared, given);
}

constexpr int64_t kTimeoutMarginSeconds = 120;

}  // namespace

Parameter ParameterFrom(absl::string_view declaration) {
  Parameter parameter;
  CHECK(google::protobuf::TextFormat::ParseFromString(std::string(declaration),
                                                      &parameter))
      << declaration;
  return parameter;
}

std::string FillForm(
    absl::string_view form,
    absl::FunctionRef<std::string(absl::string_view hole, bool is_quoted)>
        value_of) {
  std::string filled;
  bool is_quoted = false;
  int depth = 0;  // of the hole, which may have holes
  size_t begin = 0;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '<' && depth++ == 0) begin = i + 1;
    if (depth == 0) {
      is_quoted ^= form[i] == '"';
      filled += form[i];
    } else if (form[i] == '>' && --depth == 0) {
      filled += value_of(form.substr(begin, i - begin), is_quoted);
    }
  }
  return filled;
}

absl::Status ToStatus(absl::Span<const std::string> problems) {
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

std::string DescribeType(const Parameter& parameter) {
  switch (parameter.type()) {
    case Parameter::TEXT:
      return "text";
    case Parameter::WORD:
      return "word without blanks and '/'";
    case Parameter::CHOICE:
      return absl::StrCat("one of ", absl::StrJoin(parameter.choices(), ", "));
    case Parameter::INTEGER:
      return DescribeNumber("integer", parameter);
    case Parameter::NUMBER:
      return DescribeNumber("number", parameter);
    case Parameter::ARRIVALS:
      return absl::StrCat("pieces with '+' between them: ", ArrivalsSyntax());
  }
  return "";
}

std::string PlainValue(const Parameter& parameter, const std::string& text) {
  if (parameter.unit() == Parameter::NO_UNIT) return text;
  const absl::StatusOr<double> number = kUnits[parameter.unit()].parse(text);
  return number.ok() ? absl::StrFormat("%.15g", *number) : text;
}

absl::StatusOr<ParameterValues> ParameterValues::Resolve(
    absl::Span<const Parameter> declared, const ValueMap& given) {
  ValueMap values;
  std::vector<std::string> problems;
  for (const Parameter& parameter : declared) {
    const auto found = given.find(parameter.name());
    if (found == given.end()) {
      if (!parameter.default_value().empty() &&
          !given.contains(parameter.excluded_by())) {
        values[parameter.name()] = parameter.default_value();
      }
      continue;
    }
    const std::string problem =
        ProblemOf(parameter, found->second, declared, given);
    if (problem.empty()) {
      values[parameter.name()] = found->second;
    } else {
      problems.push_back(problem);
    }
  }
  if (!problems.empty()) return ToStatus(problems);
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
  // The longest duration is thirty days.
  static const auto& parameters = *new std::vector<Parameter>{
      ParameterFrom(R"pb(
        name: "test_duration"
        type: NUMBER
        default_value: "30"
        minimum: 0.001
        maximum: 2592000
        unit: SECONDS
        meaning: "Seconds of traffic; -t sets it for all tests.")pb"),
      ParameterFrom(R"pb(
        name: "test_timeout"
        type: INTEGER
        minimum: 1
        unit: SECONDS
        meaning: "Time limit of the test in seconds. Default: "
                 "test_duration + 120.")pb"),
      ParameterFrom(R"pb(
        name: "ip_version"
        type: CHOICE
        choices: "4"
        choices: "6"
        meaning: "IP version; also as a bare word, ipv4 or ipv6. Default: the "
                 "host's choice.")pb"),
      ParameterFrom(R"pb(
        name: "engine"
        type: WORD
        meaning: "The program that hosts all services, by the name that nodes "
                 "know it by (node_manager --engine=NAME=PATH); own: the "
                 "node's own. Default: own.")pb"),
      ParameterFrom(R"pb(
        name: "arrivals"
        type: ARRIVALS
        meaning: "Arrival process of the open loops, whose rate is that of "
                 "factor 1, such as gamma:3, exponential+sine:1m:0.5 or "
                 "bursts:5:1s:9s.")pb"),
      ParameterFrom(R"pb(
        name: "extra_test_contents"
        type: TEXT
        meaning: "Fields in text format, added to the test; usually "
                 "extra_test_contents=<FILE.")pb"),
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

}  // namespace distbench::test_builder
