// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Who is to blame for the tail: what slow requests waited for, from the traces
// of a result.

#ifndef DISTBENCH_PRODUCTS_BLAME_BLAME_H_
#define DISTBENCH_PRODUCTS_BLAME_BLAME_H_

#include <optional>
#include <string>

#include "absl/types/span.h"
#include "distbench/products/blame/report.pb.h"
#include "distbench/products/blame/request_tree.h"
#include "distbench/report/measurements/test_run.h"
#include "proto/results.pb.h"

namespace distbench::blame {

// Analyses the traces of a test. Absent if it traced no requests.
std::optional<ReportedBlame> FindBlame(const TestResult& result);

// The same for requests of one kind.
ReportedBlame::BlamedRequests BlameFor(const TracedRequests& requests);

// Says for each run who is to blame for its tail, in lines of text.
std::string BlameText(absl::Span<const report::TestRun> runs);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_BLAME_H_
