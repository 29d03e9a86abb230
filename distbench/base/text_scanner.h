// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Reads texts of small grammars: quantities, knobs, objectives, fanout filters,
// lists of numbers.
//
//   TextScanner in("1.5k/s");
//   const std::optional<double> number = in.TakeDecimal();
//   const Unit* const unit = in.TakeOneOf(kUnits);
//   if (!number || unit == nullptr || !in.at_end()) return NotARate();
//
// Numbers are what people write. Unlike Abseil's functions, none of these take
// hexadecimal digits, "inf", "nan" or white space around a number.

#ifndef DISTBENCH_BASE_TEXT_SCANNER_H_
#define DISTBENCH_BASE_TEXT_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/strings/string_view.h"

namespace distbench::base {

// Goes through a text, which must outlive it. What cannot be taken is left, or
// its digits are used up: a caller whose number is missing has an error anyway.
class TextScanner {
 public:
  explicit TextScanner(absl::string_view text) : rest_(text) {}

  absl::string_view rest() const { return rest_; }
  bool at_end() const { return rest_.empty(); }

  // Takes the word if the rest begins with it, and returns whether it did.
  bool Take(absl::string_view word);

  // Takes the longest `name` of the entries with which the rest begins, and
  // returns its entry; nullptr if there is none.
  template <typename Entry, size_t kCount>
  const Entry* TakeOneOf(const Entry (&entries)[kCount]) {
    const Entry* longest = nullptr;
    for (const Entry& entry : entries) {
      if (rest_.substr(0, entry.name.size()) == entry.name &&
          (longest == nullptr || entry.name.size() > longest->name.size())) {
        longest = &entry;
      }
    }
    if (longest != nullptr) rest_.remove_prefix(longest->name.size());
    return longest;
  }

  // Takes what comes before the first of these characters, or everything.
  absl::string_view TakeUntil(absl::string_view ends);

  // Digits.
  std::optional<int64_t> TakeWhole();

  // Digits, perhaps behind a sign.
  std::optional<int64_t> TakeInteger();

  // Digits, perhaps with a fraction. Infinity if a double has no room for it.
  std::optional<double> TakeDecimal();

  // A finite decimal, perhaps with a sign and an exponent.
  std::optional<double> TakeNumber();

 private:
  // Returns whether it was "-".
  bool SkipSign();

  absl::string_view rest_;
};

// These are the whole text, or nothing.

// Digits that make a number from 0 to `most`.
std::optional<int64_t> ParseWhole(
    absl::string_view text, int64_t most = std::numeric_limits<int64_t>::max());

// As TakeDecimal() and TakeNumber().
std::optional<double> ParseDecimal(absl::string_view text);
std::optional<double> ParseNumber(absl::string_view text);

// A number before "%", perhaps with blanks between them; in percent.
std::optional<double> ParsePercent(absl::string_view text);

// "NAME<LIMIT" or "NAME>LIMIT", divided at the last of these signs, without
// blanks around the two.
struct Comparison {
  absl::string_view name;
  char sign = '<';
  absl::string_view limit;
};
std::optional<Comparison> ParseComparison(absl::string_view text);

// What a name belongs to, such as the RPC of a metric, and the name: divided at
// the last separator, without blanks around the two. The owner is empty if
// there is no separator.
struct OwnedName {
  absl::string_view owner;
  absl::string_view name;
};
OwnedName SplitOwner(absl::string_view text, char separator);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_TEXT_SCANNER_H_
