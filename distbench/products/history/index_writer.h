// Puts results into an index, and takes them out.

#ifndef DISTBENCH_PRODUCTS_HISTORY_INDEX_WRITER_H_
#define DISTBENCH_PRODUCTS_HISTORY_INDEX_WRITER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/products/history/database.h"
#include "distbench/products/history/measured_result.h"
#include "distbench/products/history/result_source.h"

namespace distbench::history {

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

#endif  // DISTBENCH_PRODUCTS_HISTORY_INDEX_WRITER_H_
