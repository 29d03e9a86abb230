// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/jobs/job_spec.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/flags/flags.h"
#include "distbench/products/bench/jobs/passive_controls.h"

namespace distbench::bench {
namespace {

constexpr int kMaxCount = 10'000;

absl::Status WrongValue(const JobProperty& property, absl::string_view value,
                        absl::string_view right) {
  return absl::InvalidArgumentError(
      absl::StrCat(property.name, "=", config::Quoted(value),
                   " is wrong; it must be ", right));
}

bool IsCount(absl::string_view value) {
  int count = 0;
  return absl::SimpleAtoi(value, &count) && count >= 1 && count <= kMaxCount;
}

bool IsNumber(absl::string_view value) {
  double number = 0;
  return absl::SimpleAtod(value, &number) && std::isfinite(number) &&
         number > 0;
}

}  // namespace

const std::vector<JobProperty>& CommonProperties() {
  static const auto& properties = *new std::vector<JobProperty>{
      {"id", PropertyType::kText,
       "Tells the job from others of its kind; letters, digits, '_', '-', '.'"},
      {"passive", PropertyType::kText,
       "Controllers to leave as they are: cpu, mem, io or all, joined by '+'"},
      {"repeat", PropertyType::kCount, "Run the job this often", "1"},
      {"keep_going", PropertyType::kFlag,
       "Go on with the next job even if this one fails", "false"},
  };
  return properties;
}

absl::Status CheckPropertyValue(const JobProperty& property,
                                absl::string_view value) {
  if (value.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        property.name, " has no value; write ", property.name, "=VALUE"));
  }
  switch (property.type) {
    case PropertyType::kText:
      return absl::OkStatus();
    case PropertyType::kFlag:
      if (value == "true" || value == "false") return absl::OkStatus();
      return WrongValue(property, value, "true or false");
    case PropertyType::kCount:
      if (IsCount(value)) return absl::OkStatus();
      return WrongValue(property, value,
                        absl::StrCat("a whole number from 1 to ", kMaxCount));
    case PropertyType::kNumber:
      if (IsNumber(value)) return absl::OkStatus();
      return WrongValue(property, value, "a positive number, such as 0.8");
    case PropertyType::kDuration: {
      const auto duration = flags::ParseDurationOrSeconds(value);
      if (duration.ok() && *duration > absl::ZeroDuration()) {
        return absl::OkStatus();
      }
      return WrongValue(property, value, "a positive duration, such as 10s");
    }
    case PropertyType::kSize: {
      const auto size = config::ParseSizeWithUnit(value);
      if (size.ok() && *size > 0) return absl::OkStatus();
      return WrongValue(property, value, "a positive size, such as 1GiB");
    }
  }
  return absl::OkStatus();
}

std::string PropertyValues::Text(absl::string_view name) const {
  if (const auto given = given_.find(std::string(name));
      given != given_.end()) {
    return given->second;
  }
  for (const JobProperty& property : declaration_.properties) {
    if (property.name == name) return property.default_value;
  }
  return "";
}

bool PropertyValues::Flag(absl::string_view name) const {
  return Text(name) == "true";
}

std::optional<int> PropertyValues::Count(absl::string_view name) const {
  int count = 0;
  if (!absl::SimpleAtoi(Text(name), &count)) return std::nullopt;
  return count;
}

std::optional<double> PropertyValues::Number(absl::string_view name) const {
  double number = 0;
  if (!absl::SimpleAtod(Text(name), &number)) return std::nullopt;
  return number;
}

std::optional<absl::Duration> PropertyValues::Duration(
    absl::string_view name) const {
  const auto duration = flags::ParseDurationOrSeconds(Text(name));
  if (!duration.ok()) return std::nullopt;
  return *duration;
}

std::optional<int64_t> PropertyValues::Size(absl::string_view name) const {
  const auto size = config::ParseSizeWithUnit(Text(name));
  if (!size.ok()) return std::nullopt;
  return *size;
}

namespace {

using Pair = std::pair<std::string, std::string>;

// Splits the text behind the kind's colon into keys and values.
class PairReader {
 public:
  explicit PairReader(absl::string_view text) : rest_(text) {}

  absl::StatusOr<std::vector<Pair>> Read() {
    std::vector<Pair> pairs;
    while (true) {
      absl::StatusOr<Pair> pair = ReadPair();
      if (!pair.ok()) return pair.status();
      pairs.push_back(*std::move(pair));
      if (rest_.empty()) return pairs;
      rest_.remove_prefix(1);  // the comma
    }
  }

 private:
  absl::StatusOr<Pair> ReadPair() {
    const size_t end = rest_.find_first_of("=,\"");
    if (end == absl::string_view::npos || rest_[end] != '=' || end == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected KEY=VALUE at ",
                       rest_.empty() ? "the end" : config::Quoted(rest_)));
    }
    std::string key(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    absl::StatusOr<std::string> value = ReadValue(key);
    if (!value.ok()) return value.status();
    return Pair(std::move(key), *std::move(value));
  }

  absl::StatusOr<std::string> ReadValue(absl::string_view key) {
    if (!rest_.empty() && rest_.front() == '"') return ReadQuoted(key);
    const size_t end = std::min(rest_.find(','), rest_.size());
    const absl::string_view value = rest_.substr(0, end);
    if (value.find('"') != absl::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the value of ", key,
          " has a double quote in the middle; put all "
          "of it in double quotes, and write \\\" for those inside"));
    }
    rest_.remove_prefix(end);
    return std::string(value);
  }

  absl::StatusOr<std::string> ReadQuoted(absl::string_view key) {
    rest_.remove_prefix(1);
    std::string value;
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() == '\\') {
        rest_.remove_prefix(1);
        if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\\')) {
          return absl::InvalidArgumentError(
              absl::StrCat("the value of ", key,
                           " has a stray backslash; write \\\\ for one"));
        }
      }
      value += rest_.front();
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the value of ", key, " lacks its closing double quote"));
    }
    rest_.remove_prefix(1);
    if (!rest_.empty() && rest_.front() != ',') {
      return absl::InvalidArgumentError(
          absl::StrCat("expected a comma after the value of ", key));
    }
    return value;
  }

  absl::string_view rest_;
};

const JobDeclaration* FindDeclaration(
    absl::string_view kind, absl::Span<const JobDeclaration> declarations) {
  for (const JobDeclaration& declaration : declarations) {
    if (declaration.kind == kind) return &declaration;
  }
  return nullptr;
}

absl::Status UnknownKind(absl::string_view kind,
                         absl::Span<const JobDeclaration> declarations) {
  std::vector<std::string> kinds;
  for (const JobDeclaration& declaration : declarations) {
    kinds.push_back(declaration.kind);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no kind of job is named ", config::Quoted(kind), "; ",
                   config::Suggestion(kind, kinds)));
}

const JobProperty* FindProperty(absl::string_view name,
                                const std::vector<JobProperty>& properties) {
  for (const JobProperty& property : properties) {
    if (property.name == name) return &property;
  }
  return nullptr;
}

absl::Status UnknownProperty(absl::string_view key,
                             const JobDeclaration& declaration) {
  std::vector<std::string> names;
  for (const JobProperty& property : declaration.properties) {
    names.push_back(property.name);
  }
  for (const JobProperty& property : CommonProperties()) {
    names.push_back(property.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat(declaration.kind, " has no property ", config::Quoted(key),
                   "; ", config::Suggestion(key, names)));
}

absl::Status SetCommon(absl::string_view key, const std::string& value,
                       JobSpec& spec) {
  if (key == "id") {
    if (!IsJobName(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("id=", config::Quoted(value),
                       " is wrong; use letters, digits, '_', '-' and '.'"));
    }
    spec.id = value;
  } else if (key == "passive") {
    absl::StatusOr<std::vector<std::string>> passive = ParsePassive(value);
    if (!passive.ok()) return passive.status();
    spec.passive = *std::move(passive);
  } else if (key == "repeat") {
    if (!absl::SimpleAtoi(value, &spec.repeat)) spec.repeat = 1;
  } else {
    spec.keep_going = value == "true";
  }
  return absl::OkStatus();
}

absl::Status CheckComplete(const JobSpec& spec,
                           const JobDeclaration& declaration) {
  for (const JobProperty& property : declaration.properties) {
    if (property.is_required && spec.properties.count(property.name) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("needs ", property.name, "=: ", property.description));
    }
  }
  return absl::OkStatus();
}

absl::Status SetPairs(const std::vector<Pair>& pairs,
                      const JobDeclaration& declaration, JobSpec& spec) {
  std::map<std::string, std::string> given;
  for (const auto& [key, value] : pairs) {
    if (!given.emplace(key, value).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(key, " is given twice; give it once"));
    }
    const JobProperty* common = FindProperty(key, CommonProperties());
    const JobProperty* property =
        common != nullptr ? common : FindProperty(key, declaration.properties);
    if (property == nullptr) return UnknownProperty(key, declaration);
    absl::Status status = CheckPropertyValue(*property, value);
    if (status.ok() && common != nullptr) status = SetCommon(key, value, spec);
    if (!status.ok()) return status;
    if (common == nullptr) spec.properties[key] = value;
  }
  return CheckComplete(spec, declaration);
}

absl::StatusOr<JobSpec> Parse(absl::string_view text,
                              absl::Span<const JobDeclaration> declarations) {
  const size_t colon = text.find(':');
  JobSpec spec;
  spec.kind = std::string(text.substr(0, colon));
  const JobDeclaration* declaration = FindDeclaration(spec.kind, declarations);
  if (declaration == nullptr) return UnknownKind(spec.kind, declarations);
  std::vector<Pair> pairs;
  if (colon != absl::string_view::npos) {
    absl::StatusOr<std::vector<Pair>> read =
        PairReader(text.substr(colon + 1)).Read();
    if (!read.ok()) return read.status();
    pairs = *std::move(read);
  }
  if (absl::Status status = SetPairs(pairs, *declaration, spec); !status.ok()) {
    return status;
  }
  return spec;
}

std::string ValueText(absl::string_view value) {
  if (value.find_first_of(",\"") == absl::string_view::npos) {
    return std::string(value);
  }
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

}  // namespace

absl::StatusOr<JobSpec> ParseJobSpec(
    absl::string_view text, absl::Span<const JobDeclaration> declarations) {
  absl::StatusOr<JobSpec> spec = Parse(text, declarations);
  if (spec.ok()) return spec;
  return absl::InvalidArgumentError(absl::StrCat(
      "job ", config::Quoted(text), ": ", spec.status().message()));
}

std::string ToText(const JobSpec& spec) {
  std::vector<std::string> pairs;
  if (!spec.id.empty()) pairs.push_back(absl::StrCat("id=", spec.id));
  if (!spec.passive.empty()) {
    pairs.push_back(absl::StrCat("passive=", absl::StrJoin(spec.passive, "+")));
  }
  if (spec.repeat != 1) pairs.push_back(absl::StrCat("repeat=", spec.repeat));
  if (spec.keep_going) pairs.push_back("keep_going=true");
  for (const auto& [key, value] : spec.properties) {
    pairs.push_back(absl::StrCat(key, "=", ValueText(value)));
  }
  if (pairs.empty()) return spec.kind;
  return absl::StrCat(spec.kind, ":", absl::StrJoin(pairs, ","));
}

bool IsJobName(absl::string_view name) { return config::IsPlain(name); }

std::string JobTitle(absl::string_view kind, absl::string_view id) {
  if (id.empty()) return std::string(kind);
  return absl::StrCat(kind, " \"", id, "\"");
}

}  // namespace distbench::bench
