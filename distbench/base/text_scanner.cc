// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/text_scanner.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace distbench::base {
namespace {

// How many characters the text begins with that are digits, or in `others`.
size_t CountDigits(absl::string_view text, absl::string_view others = "") {
  const auto end = std::find_if(text.begin(), text.end(), [&](char c) {
    return !absl::ascii_isdigit(c) && others.find(c) == others.npos;
  });
  return end - text.begin();
}

// The part of `before` that is no longer in `after`.
absl::string_view Taken(absl::string_view before, absl::string_view after) {
  return before.substr(0, before.size() - after.size());
}

// What `take` takes, if that is all of the text.
template <typename Number>
std::optional<Number> All(absl::string_view text,
                          std::optional<Number> (TextScanner::*take)()) {
  TextScanner in(text);
  const std::optional<Number> number = (in.*take)();
  return in.at_end() ? number : std::nullopt;
}

}  // namespace

bool TextScanner::Take(absl::string_view word) {
  return absl::ConsumePrefix(&rest_, word);
}

absl::string_view TextScanner::TakeUntil(absl::string_view ends) {
  const absl::string_view taken = rest_.substr(0, rest_.find_first_of(ends));
  rest_.remove_prefix(taken.size());
  return taken;
}

bool TextScanner::SkipSign() {
  const bool is_negative = Take("-");
  if (!is_negative) Take("+");
  return is_negative;
}

std::optional<int64_t> TextScanner::TakeWhole() {
  const absl::string_view before = rest_;
  rest_.remove_prefix(CountDigits(rest_));
  int64_t number = 0;
  if (!absl::SimpleAtoi(Taken(before, rest_), &number)) return std::nullopt;
  return number;
}

std::optional<int64_t> TextScanner::TakeInteger() {
  const bool is_negative = SkipSign();
  const std::optional<int64_t> number = TakeWhole();
  return number && is_negative ? -*number : number;
}

std::optional<double> TextScanner::TakeDecimal() {
  const absl::string_view before = rest_;
  rest_.remove_prefix(CountDigits(rest_, "."));
  double number = 0;
  if (!absl::SimpleAtod(Taken(before, rest_), &number)) return std::nullopt;
  return number;
}

std::optional<double> TextScanner::TakeNumber() {
  const absl::string_view before = rest_;
  SkipSign();
  if (!TakeDecimal()) return std::nullopt;
  const absl::string_view decimal = rest_;
  if (Take("e") || Take("E")) {
    SkipSign();
    if (!TakeWhole()) rest_ = decimal;
  }
  double number = 0;
  if (!absl::SimpleAtod(Taken(before, rest_), &number) ||
      !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

std::optional<int64_t> ParseWhole(absl::string_view text, int64_t most) {
  const std::optional<int64_t> number = All(text, &TextScanner::TakeWhole);
  if (!number || *number > most) return std::nullopt;
  return number;
}

std::optional<double> ParseDecimal(absl::string_view text) {
  return All(text, &TextScanner::TakeDecimal);
}

std::optional<double> ParseNumber(absl::string_view text) {
  return All(text, &TextScanner::TakeNumber);
}

std::optional<double> ParsePercent(absl::string_view text) {
  if (!absl::ConsumeSuffix(&text, "%")) return std::nullopt;
  return ParseNumber(absl::StripTrailingAsciiWhitespace(text));
}

std::optional<Comparison> ParseComparison(absl::string_view text) {
  const size_t sign = text.find_last_of("<>");
  if (sign == text.npos) return std::nullopt;
  return Comparison{.name = absl::StripAsciiWhitespace(text.substr(0, sign)),
                    .sign = text[sign],
                    .limit = absl::StripAsciiWhitespace(text.substr(sign + 1))};
}

OwnedName SplitOwner(absl::string_view text, char separator) {
  const size_t at = text.rfind(separator);
  if (at == text.npos) return {.owner = "", .name = text};
  return {.owner = absl::StripAsciiWhitespace(text.substr(0, at)),
          .name = absl::StripAsciiWhitespace(text.substr(at + 1))};
}

}  // namespace distbench::base
