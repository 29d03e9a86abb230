// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How much of the measurements the JSON document shows.

#ifndef DISTBENCH_REPORT_JSON_JSON_LIMITS_H_
#define DISTBENCH_REPORT_JSON_JSON_LIMITS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>

namespace distbench::report {

// Limits on parts that grow with the test. The document counts what is left
// out.
struct JsonLimits {
  // Rows of tables (derived/tables.h), by their names; of others, all.
  std::map<std::string, int64_t, std::less<>> max_rows = {};

  // Instances in the topology, the worst first.
  int64_t max_instance_rows = std::numeric_limits<int64_t>::max();

  // Of each table that a product adds.
  int64_t max_part_rows = std::numeric_limits<int64_t>::max();

  // Per RPC. Neighbouring intervals are merged to stay within the limit.
  int64_t max_intervals = std::numeric_limits<int64_t>::max();
};

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_JSON_JSON_LIMITS_H_
