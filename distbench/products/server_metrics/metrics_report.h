// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What reports say of the figures of servers: rows of tables, lines of the
// summary, findings.

#ifndef DISTBENCH_PRODUCTS_SERVER_METRICS_METRICS_REPORT_H_
#define DISTBENCH_PRODUCTS_SERVER_METRICS_METRICS_REPORT_H_

#include <string>
#include <vector>

#include "distbench/report/derived/tables.h"
#include "distbench/report/parts/finding_rule.h"
#include "proto/results.pb.h"

namespace distbench::server_metrics {

// The rows of ServerMetricTable and of ServerMetricReadingTable.
void ListMetrics(const TestResult& result, report::RowSink sink);
void ListReadings(const TestResult& result, report::RowSink sink);
void ListBoth(const TestResult& result, report::RowSink metrics,
              report::RowSink readings);

// A line for each metric; none if the test has none.
std::vector<std::string> MetricLines(const TestResult& result);

// Of readings that failed, of metrics of which nothing is known, of values that
// never changed, and of figures that were others in the seconds of the tail.
void JudgeReadings(const TestResult& result, report::FindingList& findings);

}  // namespace distbench::server_metrics

#endif  // DISTBENCH_PRODUCTS_SERVER_METRICS_METRICS_REPORT_H_
