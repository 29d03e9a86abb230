// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/syntax/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/base/index_list.h"
#include "distbench/base/text_scanner.h"
#include "distbench/config/problems/suggest.h"
#include "proto/rules.pb.h"

namespace distbench::config {
namespace {

struct Unit {
  absl::string_view name;
  double size;
};

// In the order in which they are preferred for writing a size.
constexpr Unit kSizeUnits[] = {
    {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9},
    {"MB", 1e6},      {"kB", 1e3},      {"KB", 1e3},      {"B", 1},
};

// In seconds.
constexpr Unit kRateUnits[] = {{"/s", 1}, {"/min", 60}, {"/h", 3600}};

constexpr Unit kRatePrefixes[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}};

// All whole numbers up to this have a double.
constexpr double kMaxWhole = 1LL << 53;

absl::Status SyntaxError(absl::string_view text, absl::string_view kind,
                         absl::string_view right_form) {
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(text), " is not a ", kind,
                   "; write it with its unit, such as ", right_form));
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDurationWithUnit(absl::string_view text) {
  constexpr absl::Duration kLongest =
      absl::Nanoseconds(std::numeric_limits<int64_t>::max());
  absl::Duration duration;
  // Abseil also takes signs and infinity.
  if (text.find_first_of("0123456789.") != 0 ||
      !absl::ParseDuration(text, &duration)) {
    return SyntaxError(text, "duration", "500ms, 4s or 1h30m");
  }
  if (duration > kLongest) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(text), " is too long; must be at most ",
                     absl::FormatDuration(kLongest)));
  }
  return absl::Floor(duration + absl::Nanoseconds(0.5), absl::Nanoseconds(1));
}

absl::StatusOr<double> ParseRateWithUnit(absl::string_view text) {
  base::TextScanner in(text);
  const std::optional<double> number = in.TakeDecimal();
  const Unit* const prefix = in.TakeOneOf(kRatePrefixes);
  const Unit* const seconds = in.TakeOneOf(kRateUnits);
  if (!number || seconds == nullptr || !in.at_end()) {
    return SyntaxError(text, "rate", "200/s, 1.5k/s or 6/min");
  }
  const double rate = *number * prefix->size / seconds->size;
  if (!(rate > 0) || !std::isfinite(rate)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(text), " is out of range; a rate must be above 0"));
  }
  return rate;
}

absl::StatusOr<int64_t> ParseSizeWithUnit(absl::string_view text) {
  base::TextScanner in(text);
  const std::optional<double> number = in.TakeDecimal();
  const Unit* const unit = in.TakeOneOf(kSizeUnits);
  if (!number || unit == nullptr || !in.at_end()) {
    return SyntaxError(text, "size", "100B, 256KiB or 1MB");
  }
  const double bytes = *number * unit->size;
  if (bytes > kMaxWhole) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(text), " is too large for a size"));
  }
  // A product such as 1.001 * 1000 may be off by the rounding of its factors.
  constexpr double kTolerance = 1e-6;
  if (std::abs(bytes - std::round(bytes)) > kTolerance) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(text), " is not a whole number of bytes"));
  }
  return static_cast<int64_t>(std::round(bytes));
}

std::string FormatSizeWithUnit(int64_t bytes) {
  if (bytes == 0) return "0B";
  const Unit* unit = kSizeUnits;
  while (bytes % static_cast<int64_t>(unit->size) != 0) ++unit;
  return absl::StrCat(bytes / static_cast<int64_t>(unit->size), unit->name);
}

// ---- Amounts of what a host has ---------------------------------------------

namespace {

using Kind = HostAmount::Kind;

constexpr char kUnlimitedText[] = "max";

// The shortest decimal that is the same number.
std::string FormatDecimal(double number) {
  char digits[400];  // more than any double has
  const auto result = std::to_chars(std::begin(digits), std::end(digits),
                                    number, std::chars_format::fixed);
  return std::string(digits, result.ptr);
}

absl::Status OutOfRange(absl::string_view text, absl::string_view range) {
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(text), " is out of range; must be ", range));
}

// What all controls can be: no limit, or a share of the host. Nothing if the
// text is neither.
std::optional<absl::StatusOr<HostAmount>> ParseAnyAmount(
    absl::string_view text) {
  if (text == kUnlimitedText) return HostAmount();
  base::TextScanner in(text);
  const std::optional<double> percent = in.TakeDecimal();
  if (!percent || !in.Take("%") || !in.at_end()) return std::nullopt;
  if (*percent > 0 && *percent <= 100) {
    return HostAmount{Kind::kPercentOfHost, *percent};
  }
  return OutOfRange(text, "above 0% and at most 100%");
}

}  // namespace

absl::StatusOr<HostAmount> ParseMemoryAmount(absl::string_view text) {
  if (const auto amount = ParseAnyAmount(text)) return *amount;
  const absl::StatusOr<int64_t> bytes = ParseSizeWithUnit(text);
  if (bytes.ok()) {
    return HostAmount{Kind::kAbsolute, static_cast<double>(*bytes)};
  }
  return absl::InvalidArgumentError(
      absl::StrCat(bytes.status().message(),
                   "; a share of the host's memory is such as 75%, and no "
                   "limit is \"max\""));
}

absl::StatusOr<HostAmount> ParseCpuAmount(absl::string_view text) {
  if (const auto amount = ParseAnyAmount(text)) return *amount;
  const std::optional<double> number = base::ParseDecimal(text);
  if (!number) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(text),
                     " is no amount of CPU time; write a number of CPUs such "
                     "as 1.5, a share of the host's such as 50%, or \"max\""));
  }
  if (*number >= kMinCpus && *number <= kMaxCpus) {
    return HostAmount{Kind::kAbsolute, *number};
  }
  return OutOfRange(text,
                    absl::StrCat("from ", kMinCpus, " to ", kMaxCpus, " CPUs"));
}

// Shares, and no limit, are written alike.
std::string FormatMemoryAmount(const HostAmount& amount) {
  return amount.kind == Kind::kAbsolute
             ? FormatSizeWithUnit(static_cast<int64_t>(amount.value))
             : FormatCpuAmount(amount);
}

std::string FormatCpuAmount(const HostAmount& amount) {
  if (amount.kind == Kind::kUnlimited) return kUnlimitedText;
  return absl::StrCat(FormatDecimal(amount.value),
                      amount.kind == Kind::kPercentOfHost ? "%" : "");
}

// ---- By the rules of a field ------------------------------------------------

namespace {

// Returns 0 for intervals below a nanosecond, which would double some rates if
// they were rounded. Limits long intervals, for which an int64_t has no room.
absl::StatusOr<int64_t> IntervalNs(absl::string_view text) {
  const absl::StatusOr<double> rate = ParseRateWithUnit(text);
  if (!rate.ok()) return rate.status();
  const double interval_ns = 1e9 / *rate;
  if (interval_ns < 1) return 0;
  return std::llround(std::min(interval_ns, 1e18));
}

absl::StatusOr<int64_t> DurationNs(absl::string_view text) {
  const auto duration = ParseDurationWithUnit(text);
  if (!duration.ok()) return duration.status();
  return absl::ToInt64Nanoseconds(*duration);
}

absl::StatusOr<int64_t> DurationUs(absl::string_view text) {
  const auto duration = ParseDurationWithUnit(text);
  if (!duration.ok()) return duration.status();
  if (*duration % absl::Microseconds(1) != absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(text), " is not a whole number of microseconds"));
  }
  return absl::ToInt64Microseconds(*duration);
}

absl::StatusOr<int64_t> ParseUnit(absl::string_view text,
                                  FieldRules::Unit unit) {
  switch (unit) {
    case FieldRules::NANOSECONDS:
      return DurationNs(text);
    case FieldRules::MICROSECONDS:
      return DurationUs(text);
    case FieldRules::INTERVAL_OF_RATE:
      return IntervalNs(text);
    default:
      return ParseSizeWithUnit(text);
  }
}

// Long times end with a whole hour, below the greatest one.
std::string TimeRange(absl::Duration min, absl::Duration max) {
  return absl::StrCat(
      min == absl::ZeroDuration() ? "0s" : absl::FormatDuration(min), " to ",
      absl::ToInt64Hours(max), "h");
}

std::string RangeText(const FieldRules& rules) {
  const int64_t min = rules.min();
  const int64_t max = rules.max();
  switch (rules.unit()) {
    case FieldRules::NANOSECONDS:
      return TimeRange(absl::Nanoseconds(min), absl::Nanoseconds(max));
    case FieldRules::MICROSECONDS:
      return TimeRange(absl::Microseconds(min), absl::Microseconds(max));
    case FieldRules::INTERVAL_OF_RATE:  // the longest interval per hour
      return absl::StrCat(3600e9 / static_cast<double>(max), "/h to ",
                          1e3 / static_cast<double>(min), "M/s");
    default:
      return absl::StrCat(min, "B to ", max, "B");
  }
}

}  // namespace

absl::StatusOr<int64_t> ParseQuantity(absl::string_view text,
                                      const FieldRules& rules) {
  const absl::StatusOr<int64_t> number = ParseUnit(text, rules.unit());
  if (!number.ok()) return number.status();
  if (*number < rules.min() || *number > rules.max()) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quoted(text), " is out of range; must be from ", RangeText(rules)));
  }
  return number;
}

std::string CanonicalText(const std::string& text, const FieldRules& rules) {
  if (rules.index_list()) {
    const auto indices = base::ParseIndexList(text);
    return indices.ok() ? base::FormatIndexList(*indices) : text;
  }
  if (rules.host_amount() == FieldRules::CPUS) {
    const auto cpus = ParseCpuAmount(text);
    return cpus.ok() ? FormatCpuAmount(*cpus) : text;
  }
  if (rules.host_amount() == FieldRules::MEMORY) {
    const auto memory = ParseMemoryAmount(text);
    return memory.ok() ? FormatMemoryAmount(*memory) : text;
  }
  if (rules.unit() == FieldRules::BYTES) {
    const auto bytes = ParseSizeWithUnit(text);
    return bytes.ok() ? FormatSizeWithUnit(*bytes) : text;
  }
  return text;
}

}  // namespace distbench::config
