// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The rows of each table (tables.h).

#ifndef DISTBENCH_REPORT_DERIVED_TABLE_ROWS_H_
#define DISTBENCH_REPORT_DERIVED_TABLE_ROWS_H_

#include <string>

#include "distbench/report/derived/tables.h"
#include "distbench/report/measurements/rpc_series.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Of RPCs, their policies, and the faults that servers had.
void ListRpcRows(const TestResult& result, RowSink sink);
void ListPercentiles(const TestResult& result, RowSink sink);
void ListTimeParts(const TestResult& result, RowSink sink);
void ListStreams(const TestResult& result, RowSink sink);
void ListPolicies(const TestResult& result, RowSink sink);
void ListGoodput(const TestResult& result, RowSink sink);
void ListFaults(const TestResult& result, RowSink sink);
void ListRecoveries(const TestResult& result, RowSink sink);
void ListPeers(const TestResult& result, RowSink sink);
void ListSeconds(const TestResult& result, RowSink sink);
void ListSamples(const TestResult& result, RowSink sink);

// Of hosts, and of activities on them.
void ListActivities(const TestResult& result, RowSink sink);
void ListActivitySeries(const TestResult& result, RowSink sink);
void ListResources(const TestResult& result, RowSink sink);
void ListCpus(const TestResult& result, RowSink sink);
void ListGroups(const TestResult& result, RowSink sink);
void ListConnections(const TestResult& result, RowSink sink);

// The rows of SecondTable for one RPC.
void ListSeries(const std::string& rpc, const RpcSeries& series, RowSink sink);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_DERIVED_TABLE_ROWS_H_
