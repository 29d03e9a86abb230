// Exports traces for OpenTelemetry: collectors, Jaeger and what else reads its
// protocol (OTLP).

#ifndef DISTBENCH_REPORT_EXPORT_OTLP_H_
#define DISTBENCH_REPORT_EXPORT_OTLP_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/tables/csv.h"

namespace distbench::report {

// Renders the traced samples of all runs as one request of OTLP/HTTP in JSON,
// on one line. An RPC is a span of its client. It is a span of its server as
// well if the server reported how long it took: the middle of the client's, as
// if the network took equally long both ways, because no clock told when.
//
// INVALID_ARGUMENT if no RPC was traced; the sink has received nothing then.
absl::Status RenderOtlp(absl::Span<const TestRun> runs, ByteSink sink);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_EXPORT_OTLP_H_
