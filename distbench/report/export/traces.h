// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Traces of requests, as trace events and as OTLP.

#ifndef DISTBENCH_REPORT_EXPORT_TRACES_H_
#define DISTBENCH_REPORT_EXPORT_TRACES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/report_format.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Assembles traced RPCs into the trees of RPCs that caused one another.

struct TracedRpc {
  // Pointers into the result.
  const RpcSample* sample = nullptr;
  const std::string* client = nullptr;
  const std::string* server = nullptr;
  std::string rpc_name;
  std::string error;  // empty if the RPC succeeded

  // Positions in the tree, ordered by send time.
  std::vector<int> children;
  int parent = -1;  // -1: the root

  // RPCs in the same lane do not overlap in time. An RPC's lane is above those
  // of the RPCs that it caused.
  int lane = 0;

  int64_t start_ns() const { return sample->start_timestamp_ns(); }
  int64_t end_ns() const {
    return base::SaturatingAdd(start_ns(), sample->latency_ns());
  }
};

// All RPCs caused by one RPC of a main action list, which is first. If that
// root was not kept, its children become roots.
using TraceTree = std::vector<TracedRpc>;

// Returns the trees, ordered by the roots' send times.
std::vector<TraceTree> CollectTraces(const TestResult& result);

// Tells how to trace RPCs.
absl::Status NoTracesError();

// Exports traces for timeline viewers: Perfetto (ui.perfetto.dev) and
// chrome://tracing.

// Renders the traced samples of all runs as a JSON document of trace events. A
// viewer's "process" is a trace, and its "threads" are the trace's lanes: the
// root at the top, the RPCs that it caused below, with arrows from cause to
// effect. Times are in microseconds since the first send.
//
// INVALID_ARGUMENT if no RPC was traced; the sink has received nothing then.
absl::Status RenderTraceEvents(absl::Span<const TestRun> runs, ByteSink sink);

// Exports traces for OpenTelemetry: collectors, Jaeger and what else reads its
// protocol (OTLP).

// Renders the traced samples of all runs as one request of OTLP/HTTP in JSON,
// on one line. An RPC is a span of its client. It is a span of its server as
// well if the server reported how long it took: the middle of the client's, as
// if the network took equally long both ways, because no clock told when.
//
// INVALID_ARGUMENT if no RPC was traced; the sink has received nothing then.
absl::Status RenderOtlp(absl::Span<const TestRun> runs, ByteSink sink);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_EXPORT_TRACES_H_
