// A run's measurements as rows of cells, which CSV and most of JSON share.

#ifndef DISTBENCH_REPORT_TABLES_TABLE_H_
#define DISTBENCH_REPORT_TABLES_TABLE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/report/measurements/time_figures.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/outcomes.h"
#include "google/protobuf/message.h"
#include "proto/results.pb.h"

namespace distbench::report {

// A cell without a value is empty: the result does not contain it.
using Cell = std::variant<std::monostate, int64_t, double, std::string>;

// Text is passed on in blocks of about this size.
inline constexpr size_t kPageBytes = 1 << 16;
using Row = std::vector<Cell>;
using RowSink = absl::FunctionRef<void(const Row& row)>;

struct ReportTable {
  absl::string_view name;
  absl::string_view description;
  std::vector<std::string> columns;

  // Passes a run's rows to the sink, one at a time. Each row has a cell per
  // column.
  void (*list_rows)(const TestResult& result, RowSink sink);
};

// One row per RPC; per RPC and percentile, with its interval; per RPC and part
// of its time; per RPC that streams and time of its messages; per RPC with a
// policy; per RPC and time interval, of RPCs with policies and runs with
// faults; per instance and fault; per time of a server's fault and RPC; per
// pair of instances and RPC; per RPC and time interval; per instance and
// activity; per instance, activity and time interval; per node and second; per
// node, second and CPU; per node, second and control group; per end of a data
// connection; per sample. docs/reports.md documents the columns. Their names
// and order are a contract; new columns may only be appended.
const ReportTable& RpcsTable();
const ReportTable& PercentilesTable();
const ReportTable& TimePartsTable();
const ReportTable& StreamsTable();
const ReportTable& PoliciesTable();
const ReportTable& GoodputTable();
const ReportTable& FaultsTable();
const ReportTable& RecoveriesTable();
const ReportTable& PeersTable();
const ReportTable& SecondsTable();
const ReportTable& ActivitiesTable();
const ReportTable& ActivitySeriesTable();
const ReportTable& ResourcesTable();
const ReportTable& CpusTable();
const ReportTable& GroupsTable();
const ReportTable& ConnectionsTable();
const ReportTable& SamplesTable();

// All of the above.
std::vector<const ReportTable*> AllTables();

// Empty if there are too few values for the quantile; "failed" if it falls
// among the requests that failed.
Cell QuantileCell(const stats::OutcomesView& outcomes, double quantile);

// A value of Outcomes: "failed", or nanoseconds.
Cell OutcomeCell(int64_t value_ns);

// Empty if there is no value.
Cell OptionalCell(bool is_present, int64_t value);

// "failed" if the number is infinite.
Cell NumberCell(const std::optional<double>& number);

// Converts nanoseconds to seconds.
Cell SecondsCell(int64_t duration_ns);

// Passes the rows of SecondsTable() for one RPC to the sink.
void ListSeriesRows(const std::string& rpc, const RpcSeries& series,
                    RowSink sink);

// ---- Writing rows -----------------------------------------------------------
//
// Rows are described once: each cell is beside the name of its column.
//
//   void WriteCpu(RowWriter& row, const std::string& node, const CpuUse& use) {
//     row.Add("node", node);
//     row.AddFields(use, WhenAbsent::kZero);
//   }
//
//   TableOf<WriteCpu, ListCpus>("cpus", "a row per node and CPU") has the
//   columns, RowOf(WriteCpu, node, use) the cells of a row.

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

// The table whose rows `list_rows` lists by RowOf(write, ...). It is made once,
// and never destroyed.
template <auto write, auto list_rows>
const ReportTable& TableOf(absl::string_view name,
                           absl::string_view description) {
  static const ReportTable& table =
      *new ReportTable{name, description, ColumnsOf(write), list_rows};
  return table;
}

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TABLES_TABLE_H_
