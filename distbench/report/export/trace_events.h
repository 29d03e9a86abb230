// Traces for timeline viewers: Perfetto (ui.perfetto.dev) and chrome://tracing.

#ifndef DISTBENCH_REPORT_EXPORT_TRACE_EVENTS_H_
#define DISTBENCH_REPORT_EXPORT_TRACE_EVENTS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/tables/csv.h"

namespace distbench {

// The traced samples of all runs as a JSON document of trace events. What the
// viewer calls a process is a trace, what it calls a thread is a lane of it:
// the root above, what it led to below, with arrows from cause to effect. Times
// are relative to the first send, in microseconds.
//
// INVALID_ARGUMENT if no RPC was traced; nothing has been passed on then.
absl::Status RenderTraceEvents(absl::Span<const TestRun> runs, ByteSink sink);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_EXPORT_TRACE_EVENTS_H_
