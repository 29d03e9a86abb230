// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Prints the use of CPUs as sysstat's mpstat does, for programs that read that.

#ifndef DISTBENCH_REPORT_EXPORT_MPSTAT_H_
#define DISTBENCH_REPORT_EXPORT_MPSTAT_H_

#include <string>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::report {

// Renders what `mpstat -P ALL 1` would have printed on each node during each
// run, and its averages: percentages of the interval, in UTC. Guest time is
// part of %usr, and %nice is 0 in results that do not have it. A comment line
// precedes each node. Intervals without single CPUs (after the first 65 536
// rows of a node, or in very long runs) are left out.
std::string RenderMpstat(absl::Span<const TestRun> runs);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_EXPORT_MPSTAT_H_
