// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/index_list.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "distbench/base/text_scanner.h"

namespace distbench::base {
namespace {

absl::Status AddRange(absl::string_view range, IndexSet& indices) {
  const std::vector<absl::string_view> ends =
      absl::StrSplit(range, absl::MaxSplits('-', 1));
  const std::optional<int64_t> first = ParseWhole(ends.front(), kMaxIndex);
  const std::optional<int64_t> last = ParseWhole(ends.back(), kMaxIndex);
  if (!first || !last) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", range, "\" is neither a number from 0 to ",
                     kMaxIndex, " nor a range; a list is such as 0-3,8"));
  }
  if (*first > *last) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", range, "\" begins above its end; write ", *last, "-", *first));
  }
  for (int64_t index = *first; index <= *last; ++index) {
    indices.insert(static_cast<int>(index));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<IndexSet> ParseIndexList(absl::string_view text) {
  IndexSet indices;
  text = absl::StripAsciiWhitespace(text);
  if (text.empty()) return indices;
  for (const absl::string_view range : absl::StrSplit(text, ',')) {
    const absl::Status status = AddRange(range, indices);
    if (!status.ok()) return status;
  }
  return indices;
}

std::string FormatIndexList(const IndexSet& indices) {
  std::vector<std::string> ranges;
  for (auto it = indices.begin(); it != indices.end();) {
    const int first = *it;
    int last = first;
    for (++it; it != indices.end() && *it == last + 1; ++it) last = *it;
    ranges.push_back(first == last ? absl::StrCat(first)
                                   : absl::StrCat(first, "-", last));
  }
  return absl::StrJoin(ranges, ",");
}

IndexSet Intersection(const IndexSet& a, const IndexSet& b) {
  IndexSet common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                        std::inserter(common, common.end()));
  return common;
}

IndexSet Without(const IndexSet& a, const IndexSet& b) {
  IndexSet rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

}  // namespace distbench::base
