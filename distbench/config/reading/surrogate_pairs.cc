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

constexpr size_t kEscapeLength = 6;  // \ud83d
constexpr size_t kPairLength = 2 * kEscapeLength;

constexpr uint32_t kFirstHigh = 0xd800;
constexpr uint32_t kFirstLow = 0xdc00;
constexpr uint32_t kAfterLow = 0xe000;
constexpr uint32_t kFirstOfPairs = 0x10000;

// Characters that Unicode keeps free for programs.
constexpr uint32_t kFirstFree = 0xfdd0;
constexpr uint32_t kLastFree = 0xfdef;

// The code unit of the escape that a text begins with.
std::optional<uint32_t> EscapeAt(absl::string_view text) {
  uint32_t unit = 0;
  if (text.size() < kEscapeLength || !absl::StartsWith(text, "\\u") ||
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

std::vector<size_t> PairsIn(absl::string_view text) {
  std::vector<size_t> positions;
  size_t position = text.find("\\u");
  while (position != absl::string_view::npos) {
    const bool is_pair = PairAt(text.substr(position)).has_value() &&
                         BeginsEscape(text, position);
    if (is_pair) positions.push_back(position);
    position = text.find("\\u", position + (is_pair ? kPairLength : 1));
  }
  return positions;
}

// Characters of three or four bytes.
std::string Utf8(uint32_t character) {
  const auto rest = [&](int shift) {
    return static_cast<char>(0x80 | ((character >> shift) & 0x3f));
  };
  if (character < kFirstOfPairs) {
    return {static_cast<char>(0xe0 | (character >> 12)), rest(6), rest(0)};
  }
  return {static_cast<char>(0xf0 | (character >> 18)), rest(12), rest(6),
          rest(0)};
}

}  // namespace

SurrogatePairs::SurrogatePairs(absl::string_view text)
    : text_(text), positions_(PairsIn(text)) {
  if (positions_.empty()) return;
  const std::string lower_text = absl::AsciiStrToLower(text);
  for (uint32_t free = kFirstFree; free <= kLastFree; ++free) {
    const std::string digits = absl::StrFormat("%04x", free);
    const std::string character = Utf8(free);
    escapes_ = absl::StrCat("\\u", digits, "\\u", digits);
    characters_ = absl::StrCat(character, character);
    if (!absl::StrContains(text, character) &&
        !absl::StrContains(lower_text, digits)) {
      return;
    }
  }
  // A text with all of them is made to be strange: its pairs are refused.
  positions_.clear();
}

std::string SurrogatePairs::Replaced() const {
  std::string replaced(text_);
  for (const size_t position : positions_) {
    replaced.replace(position, kPairLength, escapes_);
  }
  return replaced;
}

void SurrogatePairs::Restore(size_t position, std::string& scalar) {
  if (positions_.empty()) return;
  while (next_ < positions_.size() && positions_[next_] < position) ++next_;
  std::string restored;
  absl::string_view rest = scalar;
  while (next_ < positions_.size()) {
    const size_t at = std::min(rest.find(characters_), rest.find(escapes_));
    if (at == absl::string_view::npos) break;
    const absl::string_view pair = text_.substr(positions_[next_], kPairLength);
    const bool is_literal = rest[at] == '\\';
    absl::StrAppend(&restored, rest.substr(0, at),
                    is_literal ? pair : Utf8(*PairAt(pair)));
    rest.remove_prefix(at + (is_literal ? escapes_ : characters_).size());
    ++next_;
  }
  if (!restored.empty()) scalar = absl::StrCat(restored, rest);
}

}  // namespace distbench::config
