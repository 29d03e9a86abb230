// Cells, and what they are made of, that several tables share.

#ifndef DISTBENCH_REPORT_TABLES_CELLS_H_
#define DISTBENCH_REPORT_TABLES_CELLS_H_

#include <cstdint>
#include <map>
#include <string>

#include "distbench/report/tables/table.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/outcomes.h"
#include "distbench/stats/running_moments.h"

namespace distbench {

// Empty if there are too few values for the quantile; "failed" if it falls
// among the requests that failed.
Cell QuantileCell(const OutcomesView& outcomes, double quantile);

// A value of Outcomes: "failed", or nanoseconds.
Cell OutcomeCell(int64_t value_ns);

// Empty if the histogram is empty.
Cell MinCell(const LogHistogram& histogram);
Cell MeanCell(const LogHistogram& histogram);
Cell MaxCell(const LogHistogram& histogram);
Cell MeanCell(const RunningMoments& moments);
Cell MaxCell(const RunningMoments& moments);

// Empty if there is no value.
Cell OptionalCell(bool is_present, int64_t value);

// The resources of the nodes, in the order of their names.
std::map<std::string, const NodeResources*> NodesByName(
    const TestResult& result);

// Converts nanoseconds to seconds.
Cell SecondsCell(int64_t duration_ns);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_TABLES_CELLS_H_
