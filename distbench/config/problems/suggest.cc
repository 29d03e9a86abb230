// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/problems/suggest.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace distbench::config {
namespace {

constexpr int kMaxCandidates = 1000;
constexpr int kMaxNameLength = 64;
constexpr int kMinAbbreviationLength = 3;
constexpr int kMaxQuotedLength = 80;

// Whether `shorter` begins the other name, or is its last words.
bool IsAbbreviation(absl::string_view shorter, absl::string_view longer) {
  return shorter.size() >= kMinAbbreviationLength &&
         (absl::StartsWith(longer, shorter) ||
          absl::EndsWith(longer, absl::StrCat("_", shorter)));
}

// Returns how unlikely it is that the candidate was meant, or nothing if it is
// out of the question. Both names are in lower case.
std::optional<int> Unlikeliness(absl::string_view name,
                                absl::string_view candidate) {
  const int length = name.size();
  const int max_edits = std::max(1, length / 3);
  const int length_difference =
      std::abs(length - static_cast<int>(candidate.size()));
  if (length_difference <= max_edits) {
    const int edits = EditDistance(name, candidate);
    // If all characters would change, it is not a misspelling.
    if (edits <= max_edits && edits < length) return edits;
  }
  if (IsAbbreviation(name, candidate) || IsAbbreviation(candidate, name)) {
    return kMaxNameLength + length_difference;
  }
  return std::nullopt;
}

}  // namespace

int EditDistance(absl::string_view a, absl::string_view b) {
  // Rows of the distance table: for the last two prefixes of a, and the current
  // one.
  std::vector<int> before_last(b.size() + 1);
  std::vector<int> last(b.size() + 1);
  std::vector<int> current(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (int i = 1; i <= static_cast<int>(a.size()); ++i) {
    current[0] = i;
    for (int j = 1; j <= static_cast<int>(b.size()); ++j) {
      const int replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

std::optional<std::string> ClosestName(
    absl::string_view name, absl::Span<const std::string> candidates) {
  if (name.empty() || name.size() > kMaxNameLength) return std::nullopt;
  const std::string lower_name = absl::AsciiStrToLower(name);
  const std::string* closest = nullptr;
  int least = std::numeric_limits<int>::max();
  for (const std::string& candidate : candidates.subspan(0, kMaxCandidates)) {
    if (candidate.size() > kMaxNameLength) continue;
    const std::optional<int> unlikeliness =
        Unlikeliness(lower_name, absl::AsciiStrToLower(candidate));
    if (unlikeliness.has_value() && *unlikeliness < least) {
      least = *unlikeliness;
      closest = &candidate;
    }
  }
  if (closest == nullptr) return std::nullopt;
  return *closest;
}

std::string Suggestion(absl::string_view name,
                       absl::Span<const std::string> candidates) {
  if (candidates.empty()) return "there are none";
  if (const auto closest = ClosestName(name, candidates)) {
    return absl::StrCat("did you mean ", Quoted(*closest), "?");
  }
  std::vector<std::string> different;
  absl::flat_hash_set<absl::string_view> seen;
  for (const std::string& candidate : candidates.subspan(0, kMaxCandidates)) {
    if (seen.insert(candidate).second) different.push_back(candidate);
  }
  if (different.size() == 1) {
    return absl::StrCat("must be ", Quoted(different[0]));
  }
  return absl::StrCat("must be one of ", QuotedList(different));
}

std::string QuotedList(absl::Span<const std::string> names, int limit) {
  std::string list =
      absl::StrJoin(names.subspan(0, limit), ", ",
                    [](std::string* out, const std::string& name) {
                      absl::StrAppend(out, Quoted(name));
                    });
  if (names.size() > limit) absl::StrAppend(&list, ", ...");
  return list;
}

std::string Quoted(absl::string_view name) {
  const bool long_name = name.size() > kMaxQuotedLength;
  return absl::StrCat("\"",
                      absl::Utf8SafeCEscape(name.substr(0, kMaxQuotedLength)),
                      long_name ? "...\"" : "\"");
}

}  // namespace distbench::config
