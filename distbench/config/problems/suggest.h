// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Suggestions for misspelt names.

#ifndef DISTBENCH_CONFIG_PROBLEMS_SUGGEST_H_
#define DISTBENCH_CONFIG_PROBLEMS_SUGGEST_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::config {

// The number of insertions, deletions, replacements and swaps of neighbours
// that turn a into b. Each character takes part in at most one swap.
int EditDistance(absl::string_view a, absl::string_view b);

// Returns the candidate that `name` probably means: one that differs in at most
// a third of its characters (inserted, deleted, replaced, or swapped with a
// neighbour), otherwise one that continues or abbreviates it, or has the same
// last words ("rate" for "open_loop_rate"). Ignores case. The first of equally
// good candidates wins; nothing is returned if none is close.
// Only a bounded number of candidates is examined, so that large configs do not
// make errors slow.
std::optional<std::string> ClosestName(
    absl::string_view name, absl::Span<const std::string> candidates);

// Returns the end of a message: `did you mean "x"?` if there is a close name,
// otherwise `must be one of "a", "b"` with the first few candidates, or `there
// are none`.
std::string Suggestion(absl::string_view name,
                       absl::Span<const std::string> candidates);

// Returns `"a", "b", "c"`, with `...` at the end if there are more than
// `limit`.
std::string QuotedList(absl::Span<const std::string> names, int limit = 12);

// Puts `name` in quotes, on one line and shortened if necessary.
std::string Quoted(absl::string_view name);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_PROBLEMS_SUGGEST_H_
