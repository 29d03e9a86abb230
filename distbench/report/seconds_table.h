#ifndef DISTBENCH_REPORT_SECONDS_TABLE_H_
#define DISTBENCH_REPORT_SECONDS_TABLE_H_

#include <string>

#include "distbench/report/rpc_series.h"
#include "distbench/report/table.h"

namespace distbench {

// The rows of SecondsTable() of one RPC.
void ListSeriesRows(const std::string& rpc, const RpcSeries& series,
                    RowSink sink);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_SECONDS_TABLE_H_
