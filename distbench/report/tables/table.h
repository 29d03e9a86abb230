// A run's measurements as rows of cells, which CSV and most of JSON share.

#ifndef DISTBENCH_REPORT_TABLES_TABLE_H_
#define DISTBENCH_REPORT_TABLES_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/stats/outcomes.h"
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

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TABLES_TABLE_H_
