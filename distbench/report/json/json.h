// Runs as one JSON document, which is also what the HTML report shows.

#ifndef DISTBENCH_REPORT_JSON_JSON_H_
#define DISTBENCH_REPORT_JSON_JSON_H_

#include <cstdint>
#include <limits>
#include <string>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench {

// Bounds of what grows with a test. What is left out is counted in the
// document.
struct JsonLimits {
  int64_t max_peer_rows = std::numeric_limits<int64_t>::max();

  // Per RPC, by putting neighbours together.
  int64_t max_intervals = std::numeric_limits<int64_t>::max();
};

// The version of the schema, which docs/reports.md describes. Fields may be
// added; else it changes.
inline constexpr int kJsonSchemaVersion = 1;

// Valid UTF-8, ends with a line feed.
std::string RenderJson(absl::Span<const TestRun> runs,
                       const JsonLimits& limits = {},
                       absl::Span<const SourcedSearch> searches = {});

}  // namespace distbench

#endif  // DISTBENCH_REPORT_JSON_JSON_H_
