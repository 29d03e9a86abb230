// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Answers of an index of results, as JSON and as text for terminals.

#ifndef DISTBENCH_PRODUCTS_HISTORY_HISTORY_ANSWERS_H_
#define DISTBENCH_PRODUCTS_HISTORY_HISTORY_ANSWERS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "distbench/products/history/history.pb.h"

namespace distbench::history {

inline constexpr size_t kMaxFilterValues = 1000;

// The values that queries can name.
struct FilterValues {
  std::set<std::string> tests;
  std::set<std::string> labels;
  std::set<std::string> hosts;
  std::map<std::string, std::set<std::string>> attributes;

  // Whether there are more than kMaxFilterValues of any: those of the newest
  // results are here.
  bool is_truncated = false;
};

// Any answer of an index as the JSON object that docs/products/history.md
// describes. Valid UTF-8 on one line; what is not is replaced.
std::string ToJson(const google::protobuf::Message& answer);
std::string ToJson(const FilterValues& filters);

// A table of results, newest last, and what the page leaves out. Text of
// results is made printable.
std::string ResultsText(const ResultPage& page);

// Segments and changes of a series, or why there are none.
std::string TrendText(const Trend& trend);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_HISTORY_ANSWERS_H_
