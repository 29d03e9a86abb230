#ifndef DISTBENCH_REPORT_TEXT_SEARCH_TEXT_H_
#define DISTBENCH_REPORT_TEXT_SEARCH_TEXT_H_

#include <string>
#include <vector>

#include "proto/results.pb.h"

namespace distbench::report {

// Summarises a search for users. Lines have no line ends.
std::vector<std::string> SummarizeSearch(const SearchReport& report);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TEXT_SEARCH_TEXT_H_
