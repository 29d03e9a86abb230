// How much of the measurements the JSON document shows.

#ifndef DISTBENCH_REPORT_JSON_JSON_LIMITS_H_
#define DISTBENCH_REPORT_JSON_JSON_LIMITS_H_

#include <cstdint>
#include <limits>

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

  // Of each table that a product adds.
  int64_t max_part_rows = std::numeric_limits<int64_t>::max();

  // Per RPC. Neighbouring intervals are merged to stay within the limit.
  int64_t max_intervals = std::numeric_limits<int64_t>::max();
};

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_JSON_JSON_LIMITS_H_
