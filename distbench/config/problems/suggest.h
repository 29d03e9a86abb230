// Suggestions for names that were misspelt.

#ifndef DISTBENCH_CONFIG_PROBLEMS_SUGGEST_H_
#define DISTBENCH_CONFIG_PROBLEMS_SUGGEST_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench {

// The candidate that was probably meant by `name`: at most a third of its
// characters inserted, deleted, replaced or swapped with a neighbour; else one
// that continues or abbreviates it. Letter case does not count. The earliest of
// equally good candidates; none if none is close. Looks at a bounded number of
// candidates, so that large configs do not make errors slow.
std::optional<std::string> ClosestName(
    absl::string_view name, absl::Span<const std::string> candidates);

// `did you mean "x"?` if there is a closest name, else `must be one of "a",
// "b"` with the first few candidates, else `there are none`. The end of a
// message.
std::string Suggestion(absl::string_view name,
                       absl::Span<const std::string> candidates);

// `"a", "b", "c"`, ending in `...` if there are more than limit.
std::string QuotedList(absl::Span<const std::string> names, int limit = 12);

// `name` in quotes, on one line and not too long, whatever it holds.
std::string Quoted(absl::string_view name);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_PROBLEMS_SUGGEST_H_
