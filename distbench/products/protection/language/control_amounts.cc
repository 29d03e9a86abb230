#include "distbench/products/protection/language/control_amounts.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/text_scanner.h"
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

// What all controls can be: no limit, or a share of the host. Nothing if the
// text is neither.
std::optional<absl::StatusOr<ControlAmount>> ParseAnyAmount(
    absl::string_view text) {
  if (text == kUnlimitedText) return ControlAmount();
  base::TextScanner in(text);
  const std::optional<double> percent = in.TakeDecimal();
  if (!percent || !in.Take("%") || !in.at_end()) return std::nullopt;
  if (*percent > 0 && *percent <= 100) {
    return ControlAmount{Kind::kPercentOfHost, *percent};
  }
  return OutOfRange(text, "above 0% and at most 100%");
}

}  // namespace

absl::StatusOr<ControlAmount> ParseMemoryAmount(absl::string_view text) {
  if (const auto amount = ParseAnyAmount(text)) return *amount;
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
  if (const auto amount = ParseAnyAmount(text)) return *amount;
  const std::optional<double> number = base::ParseDecimal(text);
  if (!number) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(text),
                     " is no amount of CPU time; write a number of CPUs such "
                     "as 1.5, a share of the host's such as 50%, or \"max\""));
  }
  if (*number >= kMinCpus && *number <= kMaxCpus) {
    return ControlAmount{Kind::kAbsolute, *number};
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
  base::TextScanner in(text);
  const absl::string_view major = in.TakeUntil(":");
  if (in.Take(":") && base::ParseWhole(major, kMaxMajor) &&
      base::ParseWhole(in.rest(), kMaxMinor)) {
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
