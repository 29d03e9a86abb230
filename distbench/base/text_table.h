// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tables and lists as text, for people.

#ifndef DISTBENCH_BASE_TEXT_TABLE_H_
#define DISTBENCH_BASE_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::base {

using TextRow = std::vector<std::string>;

// Returns a line for each row, with columns of equal width that are two blanks
// apart, and without white space at its end. `alignment` has a letter for each
// column: 'l' for names, which are aligned on the left, and 'r' for figures,
// aligned on the right. All rows have as many cells.
std::vector<std::string> AlignedLines(absl::Span<const TextRow> rows,
                                      absl::string_view alignment);

// Names the first `most` items, and counts the others: JoinSome(names, 3, ", ",
// " and ") of five is "a, b, c and 2 more".
std::string JoinSome(absl::Span<const std::string> items, size_t most,
                     absl::string_view separator,
                     absl::string_view before_rest);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_TEXT_TABLE_H_
