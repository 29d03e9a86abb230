#include "distbench/config/rules/quantity_text.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/quantity.h"

namespace distbench::config {
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

absl::StatusOr<int64_t> Parse(absl::string_view text, FieldRules::Unit unit) {
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
  const absl::StatusOr<int64_t> number = Parse(text, rules.unit());
  if (!number.ok()) return number.status();
  if (*number < rules.min() || *number > rules.max()) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quoted(text), " is out of range; must be from ", RangeText(rules)));
  }
  return number;
}

}  // namespace distbench::config
