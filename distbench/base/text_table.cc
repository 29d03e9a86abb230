// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/text_table.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace distbench::base {

std::vector<std::string> AlignedLines(absl::Span<const TextRow> rows,
                                      absl::string_view alignment) {
  std::vector<size_t> widths(alignment.size(), 0);
  for (const TextRow& row : rows) {
    for (size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::vector<std::string> lines;
  for (const TextRow& row : rows) {
    std::string& line = lines.emplace_back();
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      const bool is_figure = alignment[i] == 'r';
      absl::StrAppend(&line, i == 0 ? "" : "  ", is_figure ? padding : "",
                      row[i], is_figure ? "" : padding);
    }
    absl::StripTrailingAsciiWhitespace(&line);
  }
  return lines;
}

std::string JoinSome(absl::Span<const std::string> items, size_t most,
                     absl::string_view separator,
                     absl::string_view before_rest) {
  std::string joined = absl::StrJoin(items.subspan(0, most), separator);
  if (items.size() > most) {
    absl::StrAppend(&joined, before_rest, items.size() - most, " more");
  }
  return joined;
}

}  // namespace distbench::base
