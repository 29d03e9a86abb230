// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Experiments as reports have them (report.proto), for CSV and JSON.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_TABLE_H_
#define DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_TABLE_H_

#include "absl/types/span.h"
#include "distbench/base/json.h"
#include "distbench/products/protection/measures/matrix.h"
#include "distbench/products/protection/report/report.pb.h"
#include "distbench/report/derived/tables.h"
#include "distbench/report/json/json_limits.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/report_format.h"

namespace distbench::protection {

// Pass an experiment's rows to the sink: of CellTable, and of SecondTable.
void ListCells(const ProtectionMatrix& matrix, report::RowSink sink);
void ListSeconds(const ProtectionMatrix& matrix, report::RowSink sink);

// Renders the header, then the rows of all experiments in the results from
// which the runs were listed. The columns source and test precede those of the
// rows, which `list_rows` lists.
void RenderProtectionCsv(absl::Span<const report::TestRun> runs,
                         const google::protobuf::Descriptor& row,
                         void (*list_rows)(const ProtectionMatrix& matrix,
                                           report::RowSink sink),
                         report::ByteSink sink);

// Lists the experiments in the results, with at most limits.max_part_rows rows
// of seconds each.
base::Json ExperimentsJson(const report::ReportInput& input,
                           const report::JsonLimits& limits);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_TABLE_H_
