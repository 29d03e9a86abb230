// The answer of a search, as text.

#ifndef DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCH_ANSWER_H_
#define DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCH_ANSWER_H_

#include <string>

#include "proto/results.pb.h"

namespace distbench::search {

// Returns the load with its confidence interval and unit, for example "350 (342
// to 357) iterations per second, met, not proven at 95 %". A bound that is
// absent is "?". Reports of earlier versions have no interval, nor have lists
// of loads. Empty if no load met.
std::string SearchAnswer(const SearchReport& report);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCH_ANSWER_H_
