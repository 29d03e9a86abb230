// What experiments found about protection, as text.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_TEXT_H_
#define DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_TEXT_H_

#include <string>

#include "absl/types/span.h"
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

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_TEXT_H_
