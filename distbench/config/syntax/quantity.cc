#include "distbench/config/syntax/quantity.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

struct Unit {
  absl::string_view name;
  double size;
};

// A suffix of another unit comes after it, so that bytes are last. Otherwise in
// the order in which they are preferred for writing a size.
constexpr Unit kSizeUnits[] = {
    {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9},
    {"MB", 1e6},      {"kB", 1e3},      {"KB", 1e3},      {"B", 1},
};

// In seconds.
constexpr Unit kRateUnits[] = {{"/s", 1}, {"/min", 60}, {"/h", 3600}};

constexpr Unit kRatePrefixes[] = {{"k", 1e3}, {"M", 1e6}, {"", 1}};

// All whole numbers up to this have a double.
constexpr double kMaxWhole = 1LL << 53;

absl::Status SyntaxError(absl::string_view text, absl::string_view kind,
                         absl::string_view right_form) {
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(text), " is not a ", kind,
                   "; write it with its unit, such as ", right_form));
}

// Removes the first of the units with which the text ends, and returns its
// size. Returns 0 if the text ends with none of them.
template <int kCount>
double ConsumeUnit(const Unit (&units)[kCount], absl::string_view& text) {
  for (const Unit& unit : units) {
    if (absl::ConsumeSuffix(&text, unit.name)) return unit.size;
  }
  return 0;
}

bool IsNumberChar(char c) { return absl::ascii_isdigit(c) || c == '.'; }

bool ParseNumber(absl::string_view text, double& number) {
  return std::all_of(text.begin(), text.end(), IsNumberChar) &&
         absl::SimpleAtod(text, &number);
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDurationWithUnit(absl::string_view text) {
  constexpr absl::Duration kLongest =
      absl::Nanoseconds(std::numeric_limits<int64_t>::max());
  absl::Duration duration;
  // Abseil also takes signs and infinity.
  if (text.empty() || !IsNumberChar(text[0]) ||
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
  absl::string_view rest = text;
  const double seconds = ConsumeUnit(kRateUnits, rest);
  const double prefix = ConsumeUnit(kRatePrefixes, rest);
  double number = 0;
  if (seconds == 0 || !ParseNumber(rest, number)) {
    return SyntaxError(text, "rate", "200/s, 1.5k/s or 6/min");
  }
  const double rate = number * prefix / seconds;
  if (!(rate > 0) || !std::isfinite(rate)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(text), " is out of range; a rate must be above 0"));
  }
  return rate;
}

absl::StatusOr<int64_t> ParseSizeWithUnit(absl::string_view text) {
  absl::string_view rest = text;
  const double unit = ConsumeUnit(kSizeUnits, rest);
  double number = 0;
  if (unit == 0 || !ParseNumber(rest, number)) {
    return SyntaxError(text, "size", "100B, 256KiB or 1MB");
  }
  const double bytes = number * unit;
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
