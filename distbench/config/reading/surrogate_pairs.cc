#include "distbench/config/reading/surrogate_pairs.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace distbench::config {
namespace {

constexpr char kEscape[] = "\\u";
constexpr char kLongEscape[] = "\\U";
constexpr size_t kEscapeLength = 6;       // \ud83d
constexpr size_t kLongEscapeLength = 10;  // \U0001f600
constexpr size_t kPairLength = 2 * kEscapeLength;

constexpr uint32_t kFirstHigh = 0xd800;
constexpr uint32_t kFirstLow = 0xdc00;
constexpr uint32_t kAfterLow = 0xe000;
constexpr uint32_t kFirstOfPairs = 0x10000;

// The code unit of the escape that a text begins with.
std::optional<uint32_t> EscapeAt(absl::string_view text) {
  uint32_t unit = 0;
  if (text.size() < kEscapeLength || !absl::StartsWith(text, kEscape) ||
      !std::all_of(text.begin() + 2, text.begin() + kEscapeLength,
                   absl::ascii_isxdigit) ||
      !absl::SimpleHexAtoi(text.substr(2, 4), &unit)) {
    return std::nullopt;
  }
  return unit;
}

// The character of the pair that a text begins with.
std::optional<uint32_t> PairAt(absl::string_view text) {
  const std::optional<uint32_t> high = EscapeAt(text);
  if (!high.has_value() || *high < kFirstHigh || *high >= kFirstLow) {
    return std::nullopt;
  }
  const std::optional<uint32_t> low = EscapeAt(text.substr(kEscapeLength));
  if (!low.has_value() || *low < kFirstLow || *low >= kAfterLow) {
    return std::nullopt;
  }
  return kFirstOfPairs + ((*high - kFirstHigh) << 10) + (*low - kFirstLow);
}

// Whether the backslash at a position does not belong to one before it.
bool BeginsEscape(absl::string_view text, size_t position) {
  size_t begin = position;
  while (begin > 0 && text[begin - 1] == '\\') --begin;
  return (position - begin) % 2 == 0;
}

}  // namespace

SurrogatePairs::SurrogatePairs(absl::string_view text) {
  size_t done = 0;
  size_t position = text.find(kEscape);
  while (position != absl::string_view::npos) {
    const std::optional<uint32_t> character = PairAt(text.substr(position));
    const bool is_pair = character.has_value() && BeginsEscape(text, position);
    if (is_pair) {
      absl::StrAppend(&replaced_, text.substr(done, position - done));
      pairs_.push_back(
          {replaced_.size(), std::string(text.substr(position, kPairLength))});
      absl::StrAppend(&replaced_, absl::StrFormat("\\U%08x", *character));
      done = position + kPairLength;
    }
    position = text.find(kEscape, position + (is_pair ? kPairLength : 1));
  }
  absl::StrAppend(&replaced_, text.substr(done));
}

std::vector<SurrogatePairs::Pair>::const_iterator SurrogatePairs::FirstFrom(
    size_t position) const {
  return std::lower_bound(
      pairs_.begin(), pairs_.end(), position,
      [](const Pair& pair, size_t wanted) { return pair.position < wanted; });
}

int SurrogatePairs::MissingBetween(size_t begin, size_t end) const {
  return static_cast<int>((FirstFrom(end) - FirstFrom(begin)) *
                          (kPairLength - kLongEscapeLength));
}

// What looks like YAML's escape comes in the same order in both, pairs or not.
void SurrogatePairs::Restore(size_t position, std::string& scalar) const {
  if (pairs_.empty()) return;
  size_t at = scalar.find(kLongEscape);
  while (at != std::string::npos) {
    position = replaced_.find(kLongEscape, position);
    const auto pair = FirstFrom(position);
    if (pair == pairs_.end()) return;
    const bool is_pair = pair->position == position;
    if (is_pair) scalar.replace(at, kLongEscapeLength, pair->written);
    at = scalar.find(kLongEscape, at + (is_pair ? kPairLength : 1));
    ++position;
  }
}

}  // namespace distbench::config
