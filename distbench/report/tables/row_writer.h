// Rows of tables, described once: each cell is beside the name of its column.
//
//   void WriteCpu(RowWriter& row, const std::string& node, const CpuUse& use) {
//     row.Add("node", node);
//     row.AddFields(use, WhenAbsent::kZero);
//   }
//
//   MakeTable("cpus", "a row per node and CPU", WriteCpu, ListCpus) has the
//   columns, RowOf(WriteCpu, node, use) the cells of a row.

#ifndef DISTBENCH_REPORT_TABLES_ROW_WRITER_H_
#define DISTBENCH_REPORT_TABLES_ROW_WRITER_H_

#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/report/measurements/time_figures.h"
#include "distbench/report/tables/table.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/outcomes.h"
#include "google/protobuf/message.h"

namespace distbench::report {

// The cell of a field that a message does not have: no cell has a value, or
// that of the field's default, 0 or "".
enum class WhenAbsent { kEmpty, kZero };

// Collects the names of columns, or the cells of a row.
class RowWriter {
 public:
  // Adds the cells of a row to it.
  explicit RowWriter(Row* row) : row_(row) {}

  // Adds names only.
  explicit RowWriter(std::vector<std::string>* columns) : columns_(columns) {}

  void Add(absl::string_view column, Cell cell);

  // Adds the figures of times, in columns such as "service_p99_ns" for the
  // times "service"; "p99_ns" if they have no name. `others` are values that
  // the histogram lacks. Percentiles are those of QuantileCell(), and empty if
  // there are others; extremes and means cover all values, but not the
  // failures, and are empty without any.
  void AddTimes(absl::string_view times, const stats::OutcomesView& outcomes,
                TimeFigures shown, const stats::RunningMoments& others = {});

  // Adds a column by the name of each field from number `first` to `last`, all
  // by default, in the order of their declaration. Requires that these are
  // numbers and texts. Truth values are 0 and 1.
  void AddFields(const google::protobuf::Message& message, WhenAbsent absent,
                 int first = 1, int last = std::numeric_limits<int>::max());

 private:
  Row* row_ = nullptr;
  std::vector<std::string>* columns_ = nullptr;
};

// The columns of rows that `write` writes, whatever they are about.
template <typename... Args>
std::vector<std::string> ColumnsOf(void (*write)(RowWriter&, Args...)) {
  std::vector<std::string> columns;
  RowWriter writer(&columns);
  write(writer, std::remove_cvref_t<Args>()...);
  return columns;
}

// A row about `args`.
template <typename... Args>
Row RowOf(void (*write)(RowWriter&, Args...),
          std::type_identity_t<Args>... args) {
  Row row;
  RowWriter writer(&row);
  write(writer, args...);
  return row;
}

// A table that is never destroyed. list_rows lists rows by RowOf(write, ...).
template <typename... Args>
const ReportTable& MakeTable(absl::string_view name,
                             absl::string_view description,
                             void (*write)(RowWriter&, Args...),
                             void (*list_rows)(const TestResult& result,
                                               RowSink sink)) {
  return *new ReportTable{name, description, ColumnsOf(write), list_rows};
}

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TABLES_ROW_WRITER_H_
