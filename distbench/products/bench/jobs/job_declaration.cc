#include "distbench/products/bench/jobs/job_declaration.h"

#include <cmath>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/flags/duration.h"

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

}  // namespace distbench::bench
