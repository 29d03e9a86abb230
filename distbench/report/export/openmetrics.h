// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Exports results as metrics in the text format of OpenMetrics, for gateways
// and collectors of text files.

#ifndef DISTBENCH_REPORT_EXPORT_OPENMETRICS_H_
#define DISTBENCH_REPORT_EXPORT_OPENMETRICS_H_

#include <string>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::report {

// Renders the families that a node manager serves while a test runs, without
// the warm-up, then percentiles, verdicts, findings and times of each run.
// Labels are test and repetition; runs that agree in both have a label `run`,
// the position among all runs.
std::string RenderOpenMetrics(absl::Span<const TestRun> runs);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_EXPORT_OPENMETRICS_H_
