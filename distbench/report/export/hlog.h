// Exports latencies over time as an interval log of HdrHistogram (.hlog), for
// HistogramLogAnalyzer, HistogramLogProcessor and others that read version 2
// of its compressed histograms.

#ifndef DISTBENCH_REPORT_EXPORT_HLOG_H_
#define DISTBENCH_REPORT_EXPORT_HLOG_H_

#include <string>

#include "distbench/report/export/rpc_selection.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::report {

// Returns the log of the selected RPC: a line for each interval of its series,
// in order of time, over all repetitions. Values are nanoseconds, the maxima of
// lines milliseconds. Intervals with warm-up are left out. Failures, which have
// no latency, are in comments.
std::string RenderHlog(const SelectedRpc& rpc);

// Returns the histogram in HdrHistogram's encoding V2, compressed, as bytes.
// Two significant digits give it the same buckets, so nothing is rounded.
std::string EncodeHdrHistogram(const stats::LogHistogram& histogram);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_EXPORT_HLOG_H_
