// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/human_units.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::base {
namespace {

struct Unit {
  double size;
  absl::string_view name;
};

constexpr Unit kTimes[] = {{1, " ns"}, {1e3, " us"}, {1e6, " ms"}, {1e9, " s"}};
constexpr Unit kRates[] = {{1, "/s"}, {1e3, " k/s"}, {1e6, " M/s"}};

// Rounds to so many significant digits, at least three, and keeps zeros: 11.0
// is known better than 11. Parts of the unit are left out where they are no
// significant digits. Never has an exponent, unless the number is below 0.0001.
std::string Rounded(double number, int digits) {
  const double size = std::abs(number);
  if (size >= 999.5) return absl::StrFormat("%.0f", number);
  if (size >= 99.95) return absl::StrFormat("%.*f", digits - 3, number);
  if (size >= 9.995) return absl::StrFormat("%.*f", digits - 2, number);
  if (size >= 0.9995) return absl::StrFormat("%.*f", digits - 1, number);
  return absl::StrFormat("%.*g", digits, number);
}

std::string Number(double number, bool is_of_smallest_unit, int digits) {
  const bool is_whole = is_of_smallest_unit && number == std::round(number);
  return is_whole ? absl::StrFormat("%.0f", number) : Rounded(number, digits);
}

// Takes the largest unit in which the number, once rounded to three digits, is
// at least 1; the smallest one for lesser numbers.
std::string InUnits(double number, absl::Span<const Unit> units,
                    int digits = 3) {
  size_t i = 0;
  while (i + 1 < units.size() && std::abs(number) / units[i].size >= 999.5) {
    ++i;
  }
  return absl::StrCat(Number(number / units[i].size, i == 0, digits),
                      units[i].name);
}

constexpr size_t kByteUnits = 5;
using ByteUnits = absl::string_view[kByteUnits];

std::string Bytes(double bytes, const ByteUnits& units) {
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kByteUnits) {
    bytes /= 1024;
    ++unit;
  }
  const int decimals = unit == 0 || bytes >= 99.95 ? 0 : 1;
  return absl::StrFormat("%.*f%s", decimals, bytes, units[unit]);
}

}  // namespace

std::string HumanDuration(double ns) { return InUnits(ns, kTimes); }

std::string PreciseDuration(double ns) { return InUnits(ns, kTimes, 4); }

std::string HumanRate(double per_second) { return InUnits(per_second, kRates); }

std::string HumanPercent(double share) {
  return absl::StrCat(Rounded(100 * share, 3), " %");
}

std::string HumanBytes(double bytes) {
  return Bytes(bytes, {" B", " KiB", " MiB", " GiB", " TiB"});
}

std::string ShortBytes(double bytes) {
  return Bytes(bytes, {"", "K", "M", "G", "T"});
}

std::string NumberInFull(double number) {
  constexpr double kExactlyWhole = 1e15;
  const bool is_whole =
      number == std::floor(number) && std::abs(number) < kExactlyWhole;
  return is_whole ? absl::StrFormat("%.0f", number)
                  : absl::StrFormat("%.9g", number);
}

}  // namespace distbench::base
