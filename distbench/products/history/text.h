// Answers of an index, for terminals.

#ifndef DISTBENCH_PRODUCTS_HISTORY_TEXT_H_
#define DISTBENCH_PRODUCTS_HISTORY_TEXT_H_

#include <string>

#include "absl/types/span.h"
#include "distbench/products/history/history_types.h"

namespace distbench::history {

// A table of results, newest last, and what the page leaves out. Text of
// results is made printable.
std::string ResultsText(const ResultPage& page);

// Segments and changes of a series, or why there are none.
std::string TrendText(const Trend& trend);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_TEXT_H_
