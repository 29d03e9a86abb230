#ifndef DISTBENCH_REPORT_TABLES_SECONDS_TABLE_H_
#define DISTBENCH_REPORT_TABLES_SECONDS_TABLE_H_

#include <string>

#include "distbench/report/measurements/rpc_series.h"
#include "distbench/report/tables/table.h"

namespace distbench {

// Passes the rows of SecondsTable() for one RPC to the sink.
void ListSeriesRows(const std::string& rpc, const RpcSeries& series,
                    RowSink sink);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_TABLES_SECONDS_TABLE_H_
