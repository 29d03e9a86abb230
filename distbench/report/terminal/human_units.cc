#include "distbench/report/terminal/human_units.h"

#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::report {
namespace {

struct Unit {
  double size;
  absl::string_view name;
};

constexpr Unit kTimes[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
constexpr Unit kRates[] = {{1, "/s"}, {1e3, "k/s"}, {1e6, "M/s"}};

// Rounds to three significant digits; numbers from 1000 to a whole number.
// Never has an exponent, unless the number is below 0.0001.
std::string ThreeDigits(double number) {
  if (std::abs(number) >= 999.5) return absl::StrFormat("%.0f", number);
  return absl::StrFormat("%.3g", number);
}

// Takes the largest unit in which the number, once rounded, is at least 1; the
// smallest one for lesser numbers.
std::string InUnits(double number, absl::Span<const Unit> units) {
  size_t i = 0;
  while (i + 1 < units.size() && std::abs(number) / units[i].size >= 999.5) {
    ++i;
  }
  return absl::StrCat(ThreeDigits(number / units[i].size), units[i].name);
}

}  // namespace

std::string HumanDuration(double ns) { return InUnits(ns, kTimes); }

std::string HumanRate(double per_second) { return InUnits(per_second, kRates); }

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

}  // namespace distbench::report
