#include "test_builder/building/sweep.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace distbench::test_builder {
namespace {

constexpr int kMaxDecimals = 9;
// Doubles above this cannot represent all integers.
constexpr double kMaxMagnitude = 1e15;

struct Decimal {
  double value = 0;
  int decimals = 0;
};

absl::Status Error(absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat("parameter_sweep: ", problem));
}

// Parses "12", "-3", "0.25". Rejects exponents, because they leave the number
// of decimals open.
absl::StatusOr<Decimal> ParseDecimal(absl::string_view role,
                                     absl::string_view text) {
  Decimal decimal;
  const size_t point = text.find('.');
  if (point != text.npos) decimal.decimals = text.size() - point - 1;
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isdigit(c) || c == '.' || c == '-';
  });
  if (!plain || !absl::SimpleAtod(text, &decimal.value) ||
      decimal.decimals > kMaxDecimals ||
      std::abs(decimal.value) > kMaxMagnitude) {
    return Error(absl::StrCat(role, " is \"", text,
                              "\", and must be a number such as 100 or 0.25"));
  }
  return decimal;
}

std::string Format(double value, int decimals) {
  return absl::StrFormat("%.*f", decimals, value);
}

absl::StatusOr<std::vector<std::string>> AddedValues(
    const Decimal& start, absl::string_view step_text, const Decimal& end) {
  const absl::StatusOr<Decimal> step = ParseDecimal("STEP", step_text);
  if (!step.ok()) return step.status();
  if (step->value == 0)
    return Error("STEP is 0; it must lead from START to END");
  const int decimals = std::max(start.decimals, step->decimals);
  // The last value may miss END by the rounding error of binary fractions.
  constexpr double kTolerance = 1e-6;
  const double last_step =
      std::floor((end.value - start.value) / step->value + kTolerance);
  if (last_step >= kMaxSweepValues) {
    return Error(absl::StrCat("makes more than ", kMaxSweepValues,
                              " values; STEP must be larger"));
  }
  std::vector<std::string> values;
  for (int i = 0; i <= last_step; ++i) {
    values.push_back(Format(start.value + i * step->value, decimals));
  }
  return values;
}

absl::StatusOr<std::vector<std::string>> MultipliedValues(
    const Decimal& start, absl::string_view factor_text, const Decimal& end) {
  const absl::StatusOr<Decimal> factor =
      ParseDecimal("the factor", factor_text);
  if (!factor.ok()) return factor.status();
  if (factor->value <= 0 || factor->value == 1 || start.value <= 0) {
    return Error(
        "a sweep by multiplication needs START above 0, and a factor "
        "above 0 that is not 1");
  }
  constexpr double kTolerance = 1e-9;
  std::vector<std::string> values;
  for (int i = 0; i < kMaxSweepValues; ++i) {
    const double value = start.value * std::pow(factor->value, i);
    const bool beyond = factor->value > 1
                            ? value > end.value * (1 + kTolerance)
                            : value < end.value * (1 - kTolerance);
    if (beyond || end.value <= 0) return values;
    std::string text = Format(value, start.decimals);
    if (values.empty() || values.back() != text) {
      values.push_back(std::move(text));
    }
  }
  return Error(absl::StrCat("takes more than ", kMaxSweepValues,
                            " steps; the factor must differ more from 1"));
}

}  // namespace

absl::StatusOr<Sweep> MakeSweep(absl::string_view name, absl::string_view start,
                                absl::string_view step, absl::string_view end) {
  Sweep sweep;
  sweep.parameters = absl::StrSplit(name, ',');
  for (const std::string& parameter : sweep.parameters) {
    if (parameter.empty()) {
      return Error(absl::StrCat("NAME is \"", name,
                                "\", and must be a parameter, or several "
                                "joined by commas"));
    }
  }
  const absl::StatusOr<Decimal> first = ParseDecimal("START", start);
  if (!first.ok()) return first.status();
  const absl::StatusOr<Decimal> last = ParseDecimal("END", end);
  if (!last.ok()) return last.status();
  absl::StatusOr<std::vector<std::string>> values =
      absl::ConsumePrefix(&step, "x") ? MultipliedValues(*first, step, *last)
                                      : AddedValues(*first, step, *last);
  if (!values.ok()) return values.status();
  sweep.values = *std::move(values);
  if (sweep.values.empty()) {
    return Error(absl::StrCat("no value lies between ", start, " and ", end,
                              "; STEP must lead from START to END"));
  }
  return sweep;
}

}  // namespace distbench::test_builder
