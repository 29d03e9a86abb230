// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What experiments found about protection, as text.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_TEXT_H_
#define DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_TEXT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/products/protection/measures/cell.h"
#include "distbench/products/protection/measures/value_distribution.h"
#include "distbench/products/protection/measures/work.h"
#include "distbench/report/measurements/test_run.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// Renders each experiment of the results: a matrix of all cells, and for each
// cell the distributions over seconds and a "Result:" line, in the form of
// docs/reports.md ("Protection"). What was not measured is named with the
// reason. Empty if the results contain no experiment.
std::string ProtectionText(const TestSequenceResults& results);

// The same for the results from which the runs were listed, each once.
std::string ProtectionText(absl::Span<const report::TestRun> runs);

// Numbers in the form of the reports about protection: short, and of equal
// width in tables.

// Returns a share, such as 0.455, in percent without the sign: "0", "0.49",
// "45.50", "100.0", "1234" or "1e+06", in at most five characters; "fail" if it
// is infinite. Requires a share of at least 0.
std::string FormatShare(double share);

// Returns nanoseconds as "0", "885u", "42.2u", "4.7m" or "1.5s".
std::string FormatLatency(double ns);

// Returns the names of the columns, aligned with FormatDistribution().
std::string DistributionHeader();

// Returns a row of shares: the label, the columns of the distribution, mean and
// deviation. Without values, the row says so.
std::string FormatDistribution(absl::string_view label,
                               const ValueDistribution& distribution);

// Returns "p50=885u:3.7m/49.5m p90=... p99=... max=...": of each percentile its
// mean over the seconds, its deviation and its maximum. Empty without values.
std::string FormatNestedLatencies(const NestedLatencies& latencies);

// The parts of ProtectionText(). Private to protection_text.h.

// Returns a table with a row for each cell, and lines that explain it.
std::string CellTable(const std::vector<ProtectionCell>& cells);

// Returns the cell's distributions, what else is known of it, and last its
// "Result:" line.
std::string CellSummary(const ProtectionCell& cell);

// Returns the line without a line end:
//   Result: isol=45.50:30.72% lat_imp=39.42%:81.53 work_csv=100.0%
//   missing=0.26%
// Each measure is mean:deviation over seconds. If some of p95 were failed,
// which are in no mean, or if the subject failed, their shares follow. Requires
// a cell that was measured.
std::string ResultLine(const ProtectionCell& cell);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_TEXT_H_
