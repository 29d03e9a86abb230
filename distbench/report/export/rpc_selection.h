// The choice of one RPC, for formats that have room for one.

#ifndef DISTBENCH_REPORT_EXPORT_RPC_SELECTION_H_
#define DISTBENCH_REPORT_EXPORT_RPC_SELECTION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::report {

enum class LatencyKind { kService, kResponse };

struct RpcSelection {
  // Empty: the only test or RPC.
  std::string test;
  std::string rpc;

  // Absent: the response time if there is one, otherwise the service time.
  std::optional<LatencyKind> latency;
};

struct SelectedRpc {
  std::string test;

  // In all repetitions of the test.
  std::vector<RpcMeasurements> runs;
  LatencyKind latency = LatencyKind::kService;
  bool is_simulated = false;
};

// INVALID_ARGUMENT lists what could have been selected. Real and simulated runs
// of a test are not added up either.
absl::StatusOr<SelectedRpc> SelectRpc(absl::Span<const TestRun> runs,
                                      const RpcSelection& selection);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_EXPORT_RPC_SELECTION_H_
