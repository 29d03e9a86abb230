#include "distbench/config/syntax/quantity.h"

#include <cmath>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/text_scanner.h"
#include "distbench/config/problems/suggest.h"

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

}  // namespace distbench::config
