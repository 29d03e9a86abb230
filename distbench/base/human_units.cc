// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/human_units.h"

#include <cmath>
#include <iterator>

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

constexpr Unit kTimes[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
constexpr Unit kRates[] = {{1, "/s"}, {1e3, "k/s"}, {1e6, "M/s"}};

// Rounds to three significant digits, and keeps zeros: 11.0 is known better
// than
// 11. Numbers from 100 are whole. Never has an exponent, unless the number is
// below 0.0001.
std::string ThreeDigits(double number) {
  const double size = std::abs(number);
  if (size >= 99.95) return absl::StrFormat("%.0f", number);
  if (size >= 9.995) return absl::StrFormat("%.1f", number);
  if (size >= 0.9995) return absl::StrFormat("%.2f", number);
  return absl::StrFormat("%.3g", number);
}

std::string Number(double number, bool is_of_smallest_unit) {
  const bool is_whole = is_of_smallest_unit && number == std::round(number);
  return is_whole ? absl::StrFormat("%.0f", number) : ThreeDigits(number);
}

// Takes the largest unit in which the number, once rounded, is at least 1; the
// smallest one for lesser numbers.
std::string InUnits(double number, absl::Span<const Unit> units) {
  size_t i = 0;
  while (i + 1 < units.size() && std::abs(number) / units[i].size >= 999.5) {
    ++i;
  }
  return absl::StrCat(Number(number / units[i].size, i == 0), units[i].name);
}

}  // namespace

std::string HumanDuration(double ns) { return InUnits(ns, kTimes); }

std::string HumanRate(double per_second) { return InUnits(per_second, kRates); }

std::string HumanPercent(double share) {
  return absl::StrCat(ThreeDigits(100 * share), "%");
}

std::string HumanBytes(double bytes) {
  constexpr const char* kUnits[] = {"", "K", "M", "G", "T"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  if (unit == 0 || bytes >= 99.95) {
    return absl::StrFormat("%.0f%s", bytes, kUnits[unit]);
  }
  return absl::StrFormat("%.1f%s", bytes, kUnits[unit]);
}

std::string NumberInFull(double number) {
  constexpr double kExactlyWhole = 1e15;
  const bool is_whole =
      number == std::floor(number) && std::abs(number) < kExactlyWhole;
  return is_whole ? absl::StrFormat("%.0f", number)
                  : absl::StrFormat("%.9g", number);
}

}  // namespace distbench::base
