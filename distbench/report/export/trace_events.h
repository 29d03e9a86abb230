// Exports traces for timeline viewers: Perfetto (ui.perfetto.dev) and
// chrome://tracing.

#ifndef DISTBENCH_REPORT_EXPORT_TRACE_EVENTS_H_
#define DISTBENCH_REPORT_EXPORT_TRACE_EVENTS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/tables/csv.h"

namespace distbench::report {

// Renders the traced samples of all runs as a JSON document of trace events. A
// viewer's "process" is a trace, and its "threads" are the trace's lanes: the
// root at the top, the RPCs that it caused below, with arrows from cause to
// effect. Times are in microseconds since the first send.
//
// INVALID_ARGUMENT if no RPC was traced; the sink has received nothing then.
absl::Status RenderTraceEvents(absl::Span<const TestRun> runs, ByteSink sink);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_EXPORT_TRACE_EVENTS_H_
