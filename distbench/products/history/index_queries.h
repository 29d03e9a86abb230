// Finds results in an index. HistoryIndex describes the functions; notes are
// not filled in.

#ifndef DISTBENCH_PRODUCTS_HISTORY_INDEX_QUERIES_H_
#define DISTBENCH_PRODUCTS_HISTORY_INDEX_QUERIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/products/history/database.h"
#include "distbench/products/history/history_types.h"

namespace distbench::history {

absl::StatusOr<ResultPage> ListResults(const ResultQuery& query,
                                       const Database& database);
absl::StatusOr<IndexedResult> FindResult(const std::string& result_id,
                                         const Database& database);
absl::StatusOr<std::vector<FileProblem>> ListProblems(const Database& database);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_INDEX_QUERIES_H_
