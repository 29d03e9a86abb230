#include "distbench/products/protection/language/control_amounts.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/quantity.h"

namespace distbench::protection {
namespace {

using Kind = ControlAmount::Kind;

constexpr char kUnlimitedText[] = "max";

// The longest name that the kernel gives a disk.
constexpr size_t kMaxDeviceNameLength = 31;

// Major and minor numbers have 12 and 20 bits.
constexpr uint32_t kMaxMajor = (1u << 12) - 1;
constexpr uint32_t kMaxMinor = (1u << 20) - 1;

// Abseil also takes signs, exponents, infinity and white space.
bool ParseDecimal(absl::string_view text, double& number) {
  return std::all_of(
             text.begin(), text.end(),
             [](char c) { return absl::ascii_isdigit(c) || c == '.'; }) &&
         absl::SimpleAtod(text, &number);
}

bool ParseWhole(absl::string_view text, uint32_t maximum) {
  uint32_t number = 0;
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(text, &number) && number <= maximum;
}

// The shortest decimal that is the same number.
std::string FormatDecimal(double number) {
  char digits[400];  // more than any double has
  const auto result = std::to_chars(std::begin(digits), std::end(digits),
                                    number, std::chars_format::fixed);
  return std::string(digits, result.ptr);
}

absl::Status OutOfRange(absl::string_view text, absl::string_view range) {
  return absl::InvalidArgumentError(
      absl::StrCat(config::Quoted(text), " is out of range; must be ", range));
}

bool IsPercentage(absl::string_view text, double& percent) {
  return absl::ConsumeSuffix(&text, "%") && ParseDecimal(text, percent);
}

absl::StatusOr<ControlAmount> PercentOfHost(absl::string_view text,
                                            double percent) {
  if (percent > 0 && percent <= 100) {
    return ControlAmount{Kind::kPercentOfHost, percent};
  }
  return OutOfRange(text, "above 0% and at most 100%");
}

}  // namespace

absl::StatusOr<ControlAmount> ParseMemoryAmount(absl::string_view text) {
  if (text == kUnlimitedText) return ControlAmount();
  double percent = 0;
  if (IsPercentage(text, percent)) return PercentOfHost(text, percent);
  const absl::StatusOr<int64_t> bytes = config::ParseSizeWithUnit(text);
  if (bytes.ok()) {
    return ControlAmount{Kind::kAbsolute, static_cast<double>(*bytes)};
  }
  return absl::InvalidArgumentError(
      absl::StrCat(bytes.status().message(),
                   "; a share of the host's memory is such as 75%, and no "
                   "limit is \"max\""));
}

absl::StatusOr<ControlAmount> ParseCpuAmount(absl::string_view text) {
  if (text == kUnlimitedText) return ControlAmount();
  double number = 0;
  if (IsPercentage(text, number)) return PercentOfHost(text, number);
  if (!ParseDecimal(text, number)) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(text),
                     " is no amount of CPU time; write a number of CPUs such "
                     "as 1.5, a share of the host's such as 50%, or \"max\""));
  }
  if (number >= kMinCpus && number <= kMaxCpus) {
    return ControlAmount{Kind::kAbsolute, number};
  }
  return OutOfRange(text,
                    absl::StrCat("from ", kMinCpus, " to ", kMaxCpus, " CPUs"));
}

std::string FormatMemoryAmount(const ControlAmount& amount) {
  switch (amount.kind) {
    case Kind::kAbsolute:
      return config::FormatSizeWithUnit(static_cast<int64_t>(amount.value));
    case Kind::kPercentOfHost:
      return absl::StrCat(FormatDecimal(amount.value), "%");
    case Kind::kUnlimited:
      break;
  }
  return kUnlimitedText;
}

std::string FormatCpuAmount(const ControlAmount& amount) {
  switch (amount.kind) {
    case Kind::kAbsolute:
      return FormatDecimal(amount.value);
    case Kind::kPercentOfHost:
      return absl::StrCat(FormatDecimal(amount.value), "%");
    case Kind::kUnlimited:
      break;
  }
  return kUnlimitedText;
}

bool IsBlockDevice(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> numbers =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  if (ParseWhole(numbers.first, kMaxMajor) &&
      ParseWhole(numbers.second, kMaxMinor)) {
    return true;
  }
  // Some names contain '!' in place of '/', as "cciss!c0d0".
  return !text.empty() && text.size() <= kMaxDeviceNameLength &&
         absl::ascii_isalpha(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.' ||
                  c == '!';
         });
}

}  // namespace distbench::protection
