// Renders runs as one JSON document, which the HTML report shows as well.

#ifndef DISTBENCH_REPORT_JSON_JSON_H_
#define DISTBENCH_REPORT_JSON_JSON_H_

#include <cstdint>
#include <limits>
#include <string>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::report {

// Limits on parts that grow with the test. The document counts what is left
// out.
struct JsonLimits {
  int64_t max_peer_rows = std::numeric_limits<int64_t>::max();
  int64_t max_activity_series_rows = std::numeric_limits<int64_t>::max();
  int64_t max_resource_rows = std::numeric_limits<int64_t>::max();
  int64_t max_cpu_rows = std::numeric_limits<int64_t>::max();
  int64_t max_group_rows = std::numeric_limits<int64_t>::max();
  int64_t max_connection_rows = std::numeric_limits<int64_t>::max();

  int64_t max_goodput_rows = std::numeric_limits<int64_t>::max();
  int64_t max_recovery_rows = std::numeric_limits<int64_t>::max();

  // Instances in the topology, the worst first.
  int64_t max_instance_rows = std::numeric_limits<int64_t>::max();

  // Seconds of all runs of an experiment.
  int64_t max_protection_rows = std::numeric_limits<int64_t>::max();

  // Per RPC. Neighbouring intervals are merged to stay within the limit.
  int64_t max_intervals = std::numeric_limits<int64_t>::max();
};

// Version of the schema that docs/reports.md describes. It changes with every
// change other than added fields.
inline constexpr int kJsonSchemaVersion = 1;

// Returns valid UTF-8 that ends with a line feed.
std::string RenderJson(absl::Span<const TestRun> runs,
                       const JsonLimits& limits = {},
                       absl::Span<const SourcedSearch> searches = {});

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_JSON_JSON_H_
