// Answers of an index as the JSON objects that docs/products/history.md
// describes. All are valid UTF-8 on one line; what is not is replaced.

#ifndef DISTBENCH_PRODUCTS_HISTORY_JSON_H_
#define DISTBENCH_PRODUCTS_HISTORY_JSON_H_

#include <string>

#include "absl/types/span.h"
#include "distbench/products/history/history_types.h"

namespace distbench::history {

std::string ToJson(const ResultPage& page);
std::string ToJson(const FilterValues& filters);
std::string ToJson(absl::Span<const FileProblem> problems);
std::string ToJson(absl::Span<const SeriesSummary> series);
std::string ToJson(const Trend& trend);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_JSON_H_
