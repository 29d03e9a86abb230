#ifndef DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCH_TEXT_H_
#define DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCH_TEXT_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench::search {

// Summarises a search for users. Lines have no line ends.
std::vector<std::string> SummarizeSearch(const SearchReport& report);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_REPORT_SEARCH_TEXT_H_
