#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CSV_ROWS_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CSV_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::external {

using CsvRows = std::vector<std::vector<std::string>>;

// Parses CSV as RFC 4180 has it: cells between commas, rows between line ends;
// a cell in double quotes may contain both, and quotes that are doubled. The
// first row names the columns, which are distinct and not empty, and every row
// has a cell for each. There is at least one further row. INVALID_ARGUMENT
// names the line, but does not quote it: cells may be secrets.
absl::StatusOr<CsvRows> ParseCsvRows(absl::string_view text);

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CSV_ROWS_H_
