// Reads rows of report tables (report/tables/table.h) by the names of columns.

#ifndef DISTBENCH_REPORT_TERMINAL_TABLE_ROWS_H_
#define DISTBENCH_REPORT_TERMINAL_TABLE_ROWS_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/report/tables/table.h"
#include "distbench/report/terminal/layout.h"

namespace distbench::report {

// Absent if the cell is empty or a text.
std::optional<double> NumberOf(const Cell& cell);

class RowReader {
 public:
  // Both must outlive the reader.
  RowReader(const ReportTable& table, const Row& row)
      : table_(table), row_(row) {}

  // All require that the table has the column.
  const Cell& operator[](absl::string_view column) const;
  std::optional<double> Number(absl::string_view column) const {
    return NumberOf((*this)[column]);
  }
  // Empty if the cell is no text.
  std::string Text(absl::string_view column) const;

 private:
  const ReportTable& table_;
  const Row& row_;
};

// Removes the column with this title, if there is one.
void DropColumn(absl::string_view title, PageTable& table);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TERMINAL_TABLE_ROWS_H_
