// Finds results in an index. HistoryIndex describes the functions; notes are
// not filled in.

#ifndef DISTBENCH_PRODUCTS_HISTORY_INDEX_QUERIES_H_
#define DISTBENCH_PRODUCTS_HISTORY_INDEX_QUERIES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/products/history/database.h"
#include "distbench/products/history/history_answers.h"

namespace distbench::history {

absl::StatusOr<ResultPage> ListResults(const ResultQuery& query,
                                       const Database& database);
absl::StatusOr<IndexedResult> FindResult(const std::string& result_id,
                                         const Database& database);
absl::StatusOr<std::vector<FileProblem>> ListProblems(const Database& database);

// What results are selected by exactly: their test, label, hosts, attributes.

// Each filter that a result passes is a word of the index's full text, made of
// the filter's id: so the full text answers queries with filters and words
// together, without reading results.
struct ResultFilter {
  std::string name;  // "test", "label", "host" or "attribute NAME"
  std::string value;
};

// Those of a result, or of a query: neither has an empty test or label.
std::vector<ResultFilter> FiltersOf(
    const std::string& test, const std::string& label,
    const std::vector<std::string>& hosts,
    const std::map<std::string, std::string>& attributes);

// Counts another result that passes the filters. Returns its words.
absl::StatusOr<std::string> AddToFilters(
    const std::vector<ResultFilter>& filters, Database& database);

// Forgets a result, and filters that no other one passes.
absl::Status RemoveFromFilters(const std::vector<ResultFilter>& filters,
                               Database& database);

// The filter's word; empty if no result passes it.
absl::StatusOr<std::string> WordOf(const ResultFilter& filter,
                                   const Database& database);

absl::StatusOr<FilterValues> ListFilters(const Database& database);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_INDEX_QUERIES_H_
