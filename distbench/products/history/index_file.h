// The file of an index.

#ifndef DISTBENCH_PRODUCTS_HISTORY_INDEX_FILE_H_
#define DISTBENCH_PRODUCTS_HISTORY_INDEX_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/products/history/database.h"
#include "distbench/products/history/measured_result.h"
#include "distbench/products/history/result_source.h"

namespace distbench::history {

// Opens an index, or makes it. An index that is of another schema, or damaged,
// is replaced by an empty one. FAILED_PRECONDITION if the file is something
// else, which is never touched. An empty path means memory.
absl::StatusOr<std::unique_ptr<Database>> OpenIndexFile(
    const std::string& path);

// A result's position is the first of its start in milliseconds, plus a number
// below kPositionsPerMs that tells apart results that started together. So
// positions are in the order of time, and all tables have that order. Times
// after the year 2109 count as 2109.
inline constexpr int64_t kPositionsPerMs = int64_t{1} << 20;
int64_t FirstPosition(int64_t started_ms);

// Makes an empty index in place of one that is damaged. Nobody in this process
// may have it open.
absl::StatusOr<std::unique_ptr<Database>> ReplaceIndexFile(
    const std::string& path);

// Puts results into an index, and takes them out.

// See IndexedResult::id.
std::string ResultId(const std::string& file, int test_index);

// What an index keeps of a file.
struct MeasuredFile {
  ResultEntry entry;
  std::string problem;  // why it cannot be read; empty if it can
  std::string run_id;
  std::string label;
  std::vector<MeasuredTest> tests;
};

// Files of the index, by name.
absl::StatusOr<std::map<std::string, ResultEntry>> IndexedFiles(
    Database& database);

// Each in a transaction of its own. The file replaces what the index had of it.
absl::Status StoreFile(const MeasuredFile& file, Database& database);
absl::Status RemoveFile(const std::string& name, Database& database);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_INDEX_FILE_H_
